package io.gpusharing.web;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.SocketWrapperBase;

/** Connections by the address of their client, in the order in which they were given. */
record ConnectionsByAddress(Map<String, List<SocketWrapperBase<NioChannel>>> byAddress) {

    static ConnectionsByAddress of(Stream<SocketWrapperBase<NioChannel>> connections) {
        return new ConnectionsByAddress(
                connections.collect(
                        groupingBy(ConnectionsByAddress::address, LinkedHashMap::new, toList())));
    }

    static String address(SocketWrapperBase<NioChannel> connection) {
        String address = connection.getRemoteAddr();
        return address == null ? "" : address;
    }

    int total() {
        return byAddress.values().stream().mapToInt(List::size).sum();
    }

    int of(String address) {
        return byAddress.getOrDefault(address, List.of()).size();
    }

    /** Those of the address that has most; empty if there are none at all. */
    List<SocketWrapperBase<NioChannel>> ofTheGreediest() {
        return byAddress.values().stream()
                .max(Comparator.comparingInt(List::size))
                .orElse(List.of());
    }
}

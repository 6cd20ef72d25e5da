package io.gpusharing.deviceplugin.kubelet;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * gRPC over the JDK's own unix sockets, as kubelets speak it: no native library, one thread that
 * moves bytes, and a virtual one for each call that is answered.
 */
public final class UnixSockets implements AutoCloseable {

    /** A full node lists 5 300 ids for its pods, 60 bytes each; kubelet's own clients take this. */
    private static final int MAX_ANSWER_BYTES = 16 * 1024 * 1024;

    private final EventLoopGroup bytes =
            new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();

    /** Serves at a path, in the place of whatever lies there. */
    public Server serve(Path socket, BindableService service) throws IOException {
        Files.deleteIfExists(socket);
        return NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioServerDomainSocketChannel.class)
                .bossEventLoopGroup(bytes)
                .workerEventLoopGroup(bytes)
                // A unix socket has no keepalive; netty would warn for each connection.
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .executor(calls)
                .addService(service)
                .build()
                .start();
    }

    /** A channel to whoever serves at a path; connects with its first call. */
    public ManagedChannel connect(Path socket) {
        return NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioDomainSocketChannel.class)
                .eventLoopGroup(bytes)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .overrideAuthority("localhost")
                .maxInboundMessageSize(MAX_ANSWER_BYTES)
                .executor(calls)
                .usePlaintext()
                .build();
    }

    @Override
    public void close() {
        calls.shutdownNow();
        // Ends by itself, soon enough.
        var _ = bytes.shutdownGracefully();
    }
}

package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapPartsTest {

    private static final long MIB = 1L << 20;

    @Test
    void allPartsTogetherAreNoMoreThanTheHeap() {
        for (long heap = 64 * MIB; heap < 2048 * MIB; heap += 7 * MIB + 5) {
            assertThat((long) new HeapParts(heap).bytes(HeapParts.ALL)).isBetween(heap - 32, heap);
        }
    }

    @Test
    void aLargerHeapAllowsMore() {
        assertThat(new HeapParts(128 * MIB).count(6, HeapParts.CONNECTION)).isEqualTo(153);
        assertThat(new HeapParts(256 * MIB).count(6, HeapParts.CONNECTION)).isEqualTo(307);
    }

    @Test
    void aHeapOfManyGibibytesIsCountedToo() {
        assertThat(new HeapParts(512L << 30).bytes(HeapParts.ALL)).isEqualTo(Integer.MAX_VALUE);
    }
}

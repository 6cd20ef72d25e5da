package io.gpusharing.e2e.cuda;

/** The driver answered a call by something else than success. */
final class CudaException extends Exception {

    private static final long serialVersionUID = 1;

    private final String call;
    private final int answer;

    /**
     * @param call the function's name
     * @param answer CUDA's number for why, a {@code CUresult}
     */
    CudaException(String call, int answer) {
        super("%s answered %d".formatted(call, answer));
        this.call = call;
        this.answer = answer;
    }

    String call() {
        return call;
    }

    int answer() {
        return answer;
    }
}

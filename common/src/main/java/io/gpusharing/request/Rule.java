package io.gpusharing.request;

/** The rules a request can break. The name is the label of metrics; the text is for people. */
public enum Rule {
    WHOLE_NUMBER("extended resources are counted in whole units"),
    NOT_NEGATIVE("an amount cannot be negative"),
    TOO_LARGE("no cluster has so much of it"),
    LIMIT_NEEDED("an extended resource is asked for under limits; requests alone are not enough"),
    REQUEST_EQUALS_LIMIT("request and limit of an extended resource must be equal"),
    FRACTION_OR_WHOLE("a request is a fraction of one GPU or a number of whole GPUs"),
    FRACTION_NEEDS_MEMORY("a fraction of a GPU needs a memory amount"),
    MEMORY_NEEDS_CORE("GPU memory is given together with a part of the processors"),
    PART_NEEDS_GPU("memory and cores are parts of at least one GPU"),
    PERCENTAGE("a part of one GPU is at most 100 percent"),
    ONE_MEMORY_AMOUNT("GPU memory is given either as an amount or as a percentage"),
    OF_NODES_ONLY("the resource describes nodes; pods do not ask for it"),
    ONE_PROVIDER("a pod asks for GPUs in the words of one provider only");

    private final String text;

    Rule(String text) {
        this.text = text;
    }

    /** The rule in words, without a full stop. */
    public String text() {
        return text;
    }
}

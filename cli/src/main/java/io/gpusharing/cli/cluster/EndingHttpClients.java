package io.gpusharing.cli.cluster;

import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.http.HttpClient;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * HTTP clients whose threads can be ended. Else one waits for the network until its client is
 * collected, and a virtual machine that ends waits 0.3 seconds for that thread.
 */
final class EndingHttpClients extends JdkHttpClientFactory {

    private final List<HttpClient> made = new CopyOnWriteArrayList<>();

    /** The factory shows nobody the clients that it makes; its builders do. */
    @Override
    protected HttpClient.Builder createNewHttpClientBuilder() {
        HttpClient.Builder builder = super.createNewHttpClientBuilder();
        return (HttpClient.Builder)
                Proxy.newProxyInstance(
                        HttpClient.Builder.class.getClassLoader(),
                        new Class<?>[] {HttpClient.Builder.class},
                        (proxy, method, values) -> {
                            try {
                                Object result = method.invoke(builder, values);
                                if (result instanceof HttpClient client) {
                                    made.add(client);
                                }
                                return result instanceof HttpClient.Builder ? proxy : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    /**
     * Ends all of them, also those that the Kubernetes client has for itself. Not {@code close()}:
     * that waits for answers, which nobody wants any more.
     */
    void end() {
        made.forEach(HttpClient::shutdownNow);
    }
}

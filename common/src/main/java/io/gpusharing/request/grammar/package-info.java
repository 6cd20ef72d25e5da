/**
 * Ways of asking for GPUs, one for each provider of fractions, and what they are worth.
 *
 * <table>
 *   <caption>What one unit holds of a GPU (compute part, memory part)</caption>
 *   <tr><th>Resource</th><th>Unit</th><th>Needed of the node</th><th>If the node is silent</th></tr>
 *   <tr><td>{@code tencent.com/vcuda-core}, {@code -memory}</td><td>1/100; 256 MiB of a GPU's
 *     memory. From 100 cores on whole GPUs</td><td>capacity of both</td><td>memory part 0</td></tr>
 *   <tr><td>{@code aliyun.com/gpu-mem}</td><td>1 GiB or MiB of a GPU's memory, for both
 *     parts</td><td>capacity of gpu-mem and gpu-count</td><td>one GPU a container</td></tr>
 *   <tr><td>{@code cnvrg.io/metagpu}</td><td>1/100 or as configured, both parts</td><td>-</td><td>-</td></tr>
 *   <tr><td>{@code nvidia.com/gpu}</td><td>1; 1/replicas; a MIG instance (strategy
 *     single)</td><td>labels gpu.product, gpu.replicas</td><td>one GPU a unit</td></tr>
 *   <tr><td>{@code nvidia.com/gpu.shared}</td><td>1/replicas</td><td>label
 *     gpu.replicas</td><td>one GPU a unit</td></tr>
 *   <tr><td>{@code nvidia.com/mig-Gg.Mgb}, with {@code .shared}</td><td>G/7 and 1, 2, 4 or 8 of 8;
 *     quarters on A30 and RTX PRO 6000; by replicas</td><td>labels mig-*.replicas; product or memory
 *     where a name has two meanings</td><td>not shared, the larger meaning; an unknown profile is
 *     one GPU</td></tr>
 *   <tr><td>HAMi's {@code nvidia.com/gpu} with {@code gpumem}, {@code gpumem-percentage}, {@code
 *     gpucores}</td><td>that part of each GPU; all of the cores or of the memory is the whole
 *     GPU</td><td>annotation hami.io/node-nvidia-register or label gpu.memory</td><td>all of the
 *     memory</td></tr>
 *   <tr><td>a site's own</td><td>as configured</td><td>-</td><td>-</td></tr>
 * </table>
 */
@NullMarked
package io.gpusharing.request.grammar;

import org.jspecify.annotations.NullMarked;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;

/** Measures CPU time from its construction on, in nanoseconds. */
final class Cpu {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** The clock of the process has ticks of 10 ms. From here on they are 1 % or less. */
    private static final long PROCESS_FROM = 1_000_000_000;

    private static final LongAdder ENDED = new LongAdder();

    private final long process = PROCESS.getProcessCpuTime();
    private final long threads = sum();

    /** Keeps the time of the calling platform thread. Call it last, and join the thread before nanos. */
    static void keep() {
        ENDED.add(THREADS.getCurrentThreadCpuTime());
    }

    private static long sum() {
        long sum = ENDED.sum();
        for (long time : THREADS.getThreadCpuTime(THREADS.getAllThreadIds())) {
            sum += Math.max(time, 0); // -1: the thread has just ended
        }
        return sum;
    }

    /** Short times are those of all Java threads. They lack the garbage collector and the compiler. */
    long nanos() {
        long whole = PROCESS.getProcessCpuTime() - process;
        return whole >= PROCESS_FROM ? whole : sum() - threads;
    }
}

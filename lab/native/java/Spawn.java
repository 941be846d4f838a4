import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** What a call costs in a thread of its own, a platform's or a virtual one. See ../README.md. */
public final class Spawn {
    static final int STATUS_NO_SUCH_MODE = 8;
    static final int STATUS_NO_MORE = 9;

    static String impl = "";
    static String mode = "";
    static int work = 10;
    static int count = 100_000;
    static volatile double sink;

    /** Square roots that depend on one another, so that none can be left out. */
    static double roots(int n, int from) {
        double x = (from & 0xff) + 2;
        for (int i = 0; i < n; i++) {
            x = Math.sqrt(x) + 1;
        }
        return x;
    }

    static void usage(String text) {
        System.err.println(text);
        System.exit(2);
    }

    static void parse(String[] args) {
        try {
            for (int i = 0; i < args.length; i += 2) {
                switch (args[i]) {
                    case "-impl" -> impl = args[i + 1];
                    case "-mode" -> mode = args[i + 1];
                    case "-work" -> work = Integer.parseInt(args[i + 1]);
                    case "-count" -> count = Integer.parseInt(args[i + 1]);
                    default -> usage("unknown flag " + args[i]);
                }
            }
        } catch (NumberFormatException e) {
            usage("a number is needed: " + e.getMessage());
        } catch (ArrayIndexOutOfBoundsException e) {
            usage(args[args.length - 1] + " needs a value");
        }
        if (work < 1 || count < 1) {
            usage("-work and -count must be 1 or more");
        }
    }

    /** Virtual threads came with Java 21, and this compiles for 17. */
    static ThreadFactory factory() throws ReflectiveOperationException {
        switch (impl) {
            case "java-thread":
                return Thread::new;
            case "java-virtual":
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
            default:
                usage("unknown -impl " + impl);
                return null;
        }
    }

    static void start(ThreadFactory threads, Runnable body, int had) {
        try {
            threads.newThread(body).start();
        } catch (OutOfMemoryError e) {
            System.err.printf("the system gives no more than %d threads: %s%n", had, e.getMessage());
            System.err.flush();
            Runtime.getRuntime().halt(STATUS_NO_MORE);
        }
    }

    /** Every thread holds its result until it is taken, so all are there at once. */
    static void each(ThreadFactory threads, int n) {
        SynchronousQueue<Double> results = new SynchronousQueue<>();
        Thread[] all = new Thread[n];
        Runnable end = impl.equals("java-thread") ? Cpu::keep : () -> {};
        for (int i = 0; i < n; i++) {
            int at = i;
            start(r -> all[at] = threads.newThread(r), () -> {
                try {
                    results.put(roots(work, at));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                end.run();
            }, i);
        }
        double sum = 0;
        try {
            for (int i = 0; i < n; i++) {
                sum += results.take();
            }
            for (Thread t : all) {
                t.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        sink = sum;
        System.gc();
    }

    /** This process's resident memory in bytes; 0 = cannot be told. */
    static long resident() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return 0;
    }

    /** What the heap holds that is in use; stacks of virtual threads lie in it. */
    static long held() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    interface Run {
        void of(int n);
    }

    /** The just-in-time compiler needs a million calls. */
    static final int WARM_CALLS = 1_000_000;

    /** Warms up with a number of runs of warm calls, then runs once by the clock, and prints the result. */
    static void measure(int runs, int warm, IntConsumer run) {
        for (int i = 0; i < WARM_CALLS; i++) {
            sink = roots(1, i);
        }
        for (int i = 0; i < runs; i++) {
            run.accept(warm);
        }
        Cpu cpu = new Cpu();
        long began = System.nanoTime();
        run.accept(count);
        long wall = System.nanoTime() - began;
        print(wall, cpu.nanos(), "");
    }

    static void print(long wall, long cpu, String more) {
        System.out.printf("BenchmarkSpawn/impl=%s/mode=%s/work=%d %d %.2f ns/op %.2f cpu-ns/op%s%n",
                impl, mode, work, count, (double) wall / count, (double) cpu / count, more);
        System.out.flush();
    }

    /** Ends the program with its threads, which wait for ever. */
    static void waiting(ThreadFactory threads) {
        // Few platform threads, for their stacks, which go a while later, are in use again below.
        each(threads, Math.min(count, impl.equals("java-thread") ? 16 : 1_000));
        LongAdder there = new LongAdder();
        Runnable body = () -> {
            there.increment();
            for (;;) {
                LockSupport.park();
            }
        };
        // Who waits is held by nobody else; a virtual thread would be collected.
        Thread[] all = new Thread[count];
        // A collection may give memory back, so it comes first.
        long heldBefore = held();
        long before = resident();
        Cpu cpu = new Cpu();
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int at = i;
            start(r -> all[at] = threads.newThread(r), body, i);
        }
        long wall = System.nanoTime() - began;
        long used = cpu.nanos();
        while (there.sum() < count) {
            Thread.onSpinWait();
        }
        long after = resident();
        String more = after > 0 ? String.format(" %.2f rss-B/op", (double) (after - before) / count) : "";
        if (impl.equals("java-virtual")) {
            more += String.format(" %.2f stack-B/op", (double) (held() - heldBefore) / count);
        }
        print(wall, used, more);
        sink = all.length;
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        parse(args);
        ThreadFactory threads = factory();
        boolean platform = impl.equals("java-thread"); // a million of them would take minutes
        switch (mode) {
            case "each" -> measure(platform ? 5 : 10, platform ? 1_000 : 100_000, n -> each(threads, n));
            case "waiting" -> waiting(threads);
            default -> System.exit(STATUS_NO_SUCH_MODE);
        }
        System.exit(0);
    }
}

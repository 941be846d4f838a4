import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/** Java's contestant: ForkJoinPool. See ../README.md for what the modes are. */
public final class Dispatch {
    static final int STATUS_DEADLOCK = 7;
    static final int STATUS_NO_SUCH_MODE = 8;

    static final long MAKESPAN_TASKS = 10_000;
    static final long LONG_FIRST = 5_000;
    static final long LONG_COUNT = 64;
    static final long BARRIER_ROUNDS = 300;
    static final int PRODUCERS = 8;

    static String impl = "";
    static String mode = "";
    static int workers = 2;
    static long tasks = 1_000_000;
    static long patience = 20_000; // in ms

    // Volatile, so that the compiler must read never at each call and cannot remove the call.
    static volatile long never = Long.MAX_VALUE;
    static volatile long sink;

    /** Costs next to nothing, yet no call of it can be left out. */
    static void trivial(long n) {
        if (n == never) {
            sink = n;
        }
    }

    static void spin() {
        long until = System.nanoTime() + 1_000_000;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    static void mixed(long n) {
        if (n >= LONG_FIRST && n < LONG_FIRST + LONG_COUNT) {
            spin();
        } else {
            trivial(n);
        }
    }

    static void meet(CyclicBarrier all) {
        try {
            all.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the program when a part takes too long. */
    static Thread watch() {
        Thread t = new Thread(() -> {
            try {
                Thread.sleep(patience);
                Runtime.getRuntime().halt(STATUS_DEADLOCK);
            } catch (InterruptedException over) {
                // it did not
            }
        });
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** The just-in-time compiler needs a million calls: ten times this many. */
    static final long WARM_TASKS = 100_000;

    /** Warms up with a number of runs of warm tasks, then runs once by the clock, and prints the result. */
    static void measure(long n, int runs, long warm, LongConsumer run) {
        Thread watch = watch();
        for (int i = 0; i < runs; i++) {
            run.accept(warm);
        }
        if (!mode.equals("barrier")) {
            watch.interrupt();
        }
        Cpu cpu = new Cpu();
        long began = System.nanoTime();
        run.accept(n);
        long wall = System.nanoTime() - began;
        long used = cpu.nanos();
        watch.interrupt();
        System.out.printf("BenchmarkDispatch/impl=%s/mode=%s/workers=%d %d %.2f ns/op %.2f cpu-ns/op%n",
                impl, mode, workers, n, (double) wall / n, (double) used / n);
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
                    case "-workers" -> workers = Integer.parseInt(args[i + 1]);
                    case "-tasks" -> tasks = Long.parseLong(args[i + 1]);
                    case "-patience" -> patience = Long.parseLong(args[i + 1]);
                    default -> usage("unknown flag " + args[i]);
                }
            }
        } catch (NumberFormatException e) {
            usage("a number is needed: " + e.getMessage());
        } catch (ArrayIndexOutOfBoundsException e) {
            usage(args[args.length - 1] + " needs a value");
        }
        if (!impl.equals("forkjoin")) {
            usage("unknown -impl " + impl);
        }
        if (workers < 1 || tasks < 1 || patience < 1) {
            usage("-workers, -tasks and -patience must be 1 or more");
        }
    }

    static void quiesce(ForkJoinPool pool) {
        if (!pool.awaitQuiescence(1, TimeUnit.HOURS)) {
            throw new IllegalStateException("an hour was not enough");
        }
    }

    static void producers(ForkJoinPool pool, long n) {
        Thread[] all = new Thread[PRODUCERS];
        for (int k = 0; k < PRODUCERS; k++) {
            all[k] = new Thread(() -> {
                for (long i = 0; i < n / PRODUCERS; i++) {
                    long v = i;
                    pool.execute(() -> trivial(v));
                }
                Cpu.keep();
            });
            all[k].start();
        }
        try {
            for (Thread t : all) {
                t.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        quiesce(pool);
    }

    static void barrier(ForkJoinPool pool, long rounds) {
        CyclicBarrier all = new CyclicBarrier(workers);
        for (long i = 0; i < rounds; i++) {
            CountDownLatch done = new CountDownLatch(workers);
            for (int k = 0; k < workers; k++) {
                pool.execute(() -> {
                    meet(all);
                    done.countDown();
                });
            }
            try {
                done.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) {
        parse(args);
        ForkJoinPool pool = new ForkJoinPool(workers);
        switch (mode) {
            case "single" -> measure(tasks, 10, WARM_TASKS, n -> {
                for (long i = 0; i < n; i++) {
                    long v = i;
                    pool.execute(() -> trivial(v));
                }
                quiesce(pool);
            });
            case "producers" -> measure(tasks, 10, WARM_TASKS, n -> producers(pool, n));
            // The first tasks are trivial.
            case "makespan" -> measure(MAKESPAN_TASKS, 200, LONG_FIRST, n -> {
                for (long i = 0; i < n; i++) {
                    long v = i;
                    pool.execute(() -> mixed(v));
                }
                quiesce(pool);
            });
            // Its tasks wait much longer than compiled code could save.
            case "barrier" -> measure(BARRIER_ROUNDS, 5, BARRIER_ROUNDS, n -> barrier(pool, n));
            case "foreach" -> measure(tasks, 10, WARM_TASKS, n -> {
                pool.submit(() -> LongStream.range(0, n).parallel().forEach(Dispatch::trivial)).join();
            });
            default -> System.exit(STATUS_NO_SUCH_MODE);
        }
        System.exit(0);
    }
}

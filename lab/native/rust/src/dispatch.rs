//! Rust's contestants: rayon's pool, and threads that read a bounded channel of crossbeam.
//! See ../README.md for what the modes are.

mod contest;

use contest::{cpu_seconds, usage, STATUS_NO_SUCH_MODE};
use std::hint::black_box;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const STATUS_DEADLOCK: i32 = 7;

const MAKESPAN_TASKS: u64 = 10_000;
const LONG_FIRST: u64 = 5_000;
const LONG_COUNT: u64 = 64;
const BARRIER_ROUNDS: u64 = 300;
const PRODUCERS: u64 = 8;

struct Options {
    implementation: String,
    mode: String,
    workers: usize,
    tasks: u64,
    patience: Duration,
}

fn parse() -> Options {
    let mut o = Options {
        implementation: String::new(),
        mode: String::new(),
        workers: 2,
        tasks: 1_000_000,
        patience: Duration::from_secs(20),
    };
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().unwrap_or_else(|| usage(&format!("{flag} needs a value")));
        let number = || value.parse::<u64>().unwrap_or_else(|_| usage(&format!("{flag} {value}: a number is needed")));
        match flag.as_str() {
            "-impl" => o.implementation = value,
            "-mode" => o.mode = value,
            "-workers" => o.workers = number() as usize,
            "-tasks" => o.tasks = number(),
            "-patience" => o.patience = Duration::from_millis(number()),
            _ => usage(&format!("unknown flag {flag}")),
        }
    }
    if o.workers < 1 || o.tasks < 1 || o.patience.is_zero() {
        usage("-workers, -tasks and -patience must be 1 or more");
    }
    o
}

/// Costs next to nothing, yet no call of it can be left out.
#[inline(never)]
fn trivial(n: u64) {
    if black_box(n) == u64::MAX {
        exit(1)
    }
}

fn spin() {
    let until = Instant::now() + Duration::from_millis(1);
    while Instant::now() < until {}
}

/// The tasks of mode makespan: 64 long ones, side by side among short ones.
fn mixed(n: u64) {
    if (LONG_FIRST..LONG_FIRST + LONG_COUNT).contains(&n) {
        spin()
    } else {
        trivial(n)
    }
}

/// Has every task wait until so many of them have come.
struct Meeting {
    size: usize,
    state: Mutex<(usize, u64)>,
    all: Condvar,
}

impl Meeting {
    fn new(size: usize) -> Arc<Self> {
        Arc::new(Meeting { size, state: Mutex::new((0, 0)), all: Condvar::new() })
    }

    fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        let round = state.1;
        state.0 += 1;
        if state.0 == self.size {
            *state = (0, round + 1);
            self.all.notify_all();
            return;
        }
        while state.1 == round {
            state = self.all.wait(state).unwrap();
        }
    }
}

/// Ends the program when a part takes too long.
fn watch(patience: Duration, over: Arc<AtomicBool>) {
    thread::spawn(move || {
        thread::sleep(patience);
        if !over.load(Ordering::SeqCst) {
            exit(STATUS_DEADLOCK)
        }
    });
}

/// Runs once to warm up, then once by the clock, and prints the result.
fn measure(o: &Options, n: u64, run: &dyn Fn(u64)) {
    let over = Arc::new(AtomicBool::new(false));
    watch(o.patience, over.clone());
    run(n.min(20_000));
    if o.mode != "barrier" {
        over.store(true, Ordering::SeqCst);
    }
    let cpu = cpu_seconds();
    let began = Instant::now();
    run(n);
    let wall = began.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    over.store(true, Ordering::SeqCst);
    println!(
        "BenchmarkDispatch/impl={}/mode={}/workers={} {} {:.2} ns/op {:.2} cpu-ns/op",
        o.implementation, o.mode, o.workers, n, wall * 1e9 / n as f64, cpu * 1e9 / n as f64
    );
}

/// A bounded channel, and threads that call what comes out of it.
struct Channel {
    sender: Option<crossbeam_channel::Sender<Task>>,
    threads: Vec<thread::JoinHandle<()>>,
}

enum Task {
    Trivial(u64),
    Mixed(u64),
    Meet(Arc<Meeting>),
}

impl Task {
    fn run(self) {
        match self {
            Task::Trivial(n) => trivial(n),
            Task::Mixed(n) => mixed(n),
            Task::Meet(m) => m.wait(),
        }
    }
}

impl Channel {
    fn new(workers: usize) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded::<Task>(1024);
        let threads = (0..workers)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.iter().for_each(Task::run))
            })
            .collect();
        Channel { sender: Some(sender), threads }
    }

    fn submit(&self, task: Task) {
        self.sender.as_ref().unwrap().send(task).unwrap()
    }

    /// Tasks start in order: when every thread has come to one behind all others,
    /// those are done.
    fn wait(&self) {
        let m = Meeting::new(self.threads.len() + 1);
        for _ in 0..self.threads.len() {
            self.submit(Task::Meet(m.clone()));
        }
        m.wait();
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.sender = None;
        for t in self.threads.drain(..) {
            t.join().unwrap();
        }
    }
}

fn channel(o: &Options) {
    let p = Channel::new(o.workers);
    match o.mode.as_str() {
        "single" => measure(o, o.tasks, &|n| {
            (0..n).for_each(|i| p.submit(Task::Trivial(i)));
            p.wait();
        }),
        "producers" => measure(o, o.tasks, &|n| {
            thread::scope(|s| {
                for _ in 0..PRODUCERS {
                    s.spawn(|| (0..n / PRODUCERS).for_each(|i| p.submit(Task::Trivial(i))));
                }
            });
            p.wait();
        }),
        "makespan" => measure(o, MAKESPAN_TASKS, &|n| {
            (0..n).for_each(|i| p.submit(Task::Mixed(i)));
            p.wait();
        }),
        "barrier" => measure(o, BARRIER_ROUNDS, &|n| {
            let m = Meeting::new(o.workers);
            for _ in 0..n {
                for _ in 0..o.workers {
                    p.submit(Task::Meet(m.clone()));
                }
                p.wait();
            }
        }),
        _ => exit(STATUS_NO_SUCH_MODE),
    }
}

/// The scope of rayon runs on a thread of the pool, which works while it waits.
fn rayon_scope(o: &Options) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(o.workers).build().unwrap();
    match o.mode.as_str() {
        "single" => measure(o, o.tasks, &|n| {
            pool.scope(|s| (0..n).for_each(|i| s.spawn(move |_| trivial(i))))
        }),
        "makespan" => measure(o, MAKESPAN_TASKS, &|n| {
            pool.scope(|s| (0..n).for_each(|i| s.spawn(move |_| mixed(i))))
        }),
        "producers" => measure(o, o.tasks, &|n| {
            pool.in_place_scope(|s| {
                thread::scope(|t| {
                    for _ in 0..PRODUCERS {
                        t.spawn(|| (0..n / PRODUCERS).for_each(|i| s.spawn(move |_| trivial(i))));
                    }
                })
            })
        }),
        "barrier" => measure(o, BARRIER_ROUNDS, &|n| {
            let m = Meeting::new(o.workers);
            for _ in 0..n {
                pool.in_place_scope(|s| {
                    for _ in 0..o.workers {
                        let m = m.clone();
                        s.spawn(move |_| m.wait());
                    }
                })
            }
        }),
        "foreach" => {
            use rayon::prelude::*;
            measure(o, o.tasks, &|n| pool.install(|| (0..n).into_par_iter().for_each(trivial)))
        }
        _ => exit(STATUS_NO_SUCH_MODE),
    }
}

fn main() {
    let o = parse();
    match o.implementation.as_str() {
        "crossbeam" => channel(&o),
        "rayon" => rayon_scope(&o),
        other => usage(&format!("unknown -impl {other}")),
    }
}

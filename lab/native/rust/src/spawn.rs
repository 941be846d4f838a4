//! What a call costs in a thread of its own, or as a task of rayon. See ../README.md for
//! what the modes are.

mod contest;

use contest::{cpu_seconds, usage, STATUS_NO_SUCH_MODE};
use std::hint::black_box;
use std::io::{self, Write};
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

const STATUS_NO_MORE: i32 = 9;

struct Options {
    implementation: String,
    mode: String,
    work: u64,
    count: u64,
}

fn parse() -> Options {
    let mut o = Options { implementation: String::new(), mode: String::new(), work: 10, count: 100_000 };
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().unwrap_or_else(|| usage(&format!("{flag} needs a value")));
        let number = || value.parse::<u64>().unwrap_or_else(|_| usage(&format!("{flag} {value}: a number is needed")));
        match flag.as_str() {
            "-impl" => o.implementation = value,
            "-mode" => o.mode = value,
            "-work" => o.work = number(),
            "-count" => o.count = number(),
            _ => usage(&format!("unknown flag {flag}")),
        }
    }
    if o.work < 1 || o.count < 1 {
        usage("-work and -count must be 1 or more");
    }
    o
}

/// Square roots that depend on one another, so that none can be left out.
#[inline(never)]
fn roots(n: u64, from: u64) -> f64 {
    // As a conversion this would wait for the call before, whose result is in the register
    // that LLVM converts into: 58 ns for ten roots instead of 16.
    const TWO_TO_52: u64 = 0x4330_0000_0000_0000;
    let mut x = f64::from_bits(TWO_TO_52 | (from & 0xff)) - f64::from_bits(TWO_TO_52) + 2.0;
    for _ in 0..n {
        x = x.sqrt() + 1.0;
    }
    x
}

/// How many threads there are, for the one that must say that there will be no more.
static STARTED: AtomicU64 = AtomicU64::new(0);

fn no_more(why: &str) -> ! {
    // Others may be about to say the same.
    let line = format!("the system gives no more than {} threads: {why}\n", STARTED.load(Ordering::SeqCst));
    let _ = io::stderr().write_all(line.as_bytes());
    unsafe { libc::_exit(STATUS_NO_MORE) }
}

/// A thread; where the system refuses one, the program ends.
fn start<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match thread::Builder::new().spawn(body) {
        Ok(handle) => {
            STARTED.fetch_add(1, Ordering::SeqCst);
            handle
        }
        Err(e) => no_more(&e.to_string()),
    }
}

/// The library panics in a new thread for which it gets no stack to handle signals on.
fn end_on_refusal() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.to_string();
        if text.contains("stack") {
            no_more(&text.replace('\n', " "));
        }
        before(info)
    }));
}

/// Every thread holds its result until it is taken, so all are there at once.
fn threads(n: u64, work: u64) -> f64 {
    STARTED.store(0, Ordering::SeqCst);
    let calls: Vec<_> = (0..n)
        .map(|i| {
            let taken = Arc::new(AtomicBool::new(false));
            let asked = taken.clone();
            let handle = start(move || {
                let result = roots(work, i);
                while !asked.load(Ordering::Acquire) {
                    thread::park();
                }
                result
            });
            (taken, handle)
        })
        .collect();
    calls
        .into_iter()
        .map(|(taken, handle)| {
            taken.store(true, Ordering::Release);
            handle.thread().unpark();
            handle.join().unwrap()
        })
        .sum()
}

/// Tasks of rayon cannot wait: what is started and not yet run stands in a queue.
fn tasks(pool: &rayon::ThreadPool, n: u64, work: u64) -> f64 {
    let (sender, results) = mpsc::channel();
    pool.scope(|s| {
        for i in 0..n {
            let sender = sender.clone();
            s.spawn(move |_| sender.send(roots(work, i)).unwrap());
        }
    });
    drop(sender);
    results.iter().sum()
}

/// Runs once to warm up, then once by the clock, and prints the result.
fn measure(o: &Options, warm: u64, run: &dyn Fn(u64) -> f64) {
    black_box(run(o.count.min(warm)));
    let cpu = cpu_seconds();
    let began = Instant::now();
    black_box(run(o.count));
    let wall = began.elapsed().as_secs_f64();
    print(o, wall, cpu_seconds() - cpu, "");
}

fn print(o: &Options, wall: f64, cpu: f64, more: &str) {
    let n = o.count as f64;
    println!(
        "BenchmarkSpawn/impl={}/mode={}/work={} {} {:.2} ns/op {:.2} cpu-ns/op{more}",
        o.implementation, o.mode, o.work, o.count, wall * 1e9 / n, cpu * 1e9 / n
    );
}

/// This process's resident memory in bytes.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64)
}

/// Ends the program with its threads, which wait for ever.
fn waiting(o: &Options) -> ! {
    threads(o.count.min(100), 1);
    STARTED.store(0, Ordering::SeqCst);
    let there = Arc::new(AtomicU64::new(0));
    let before = resident();
    let cpu = cpu_seconds();
    let began = Instant::now();
    for _ in 0..o.count {
        let there = there.clone();
        start(move || {
            there.fetch_add(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        });
    }
    let wall = began.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    while there.load(Ordering::SeqCst) < o.count {
        thread::yield_now();
    }
    let more = match (before, resident()) {
        (Some(before), Some(after)) => format!(" {:.2} rss-B/op", (after - before) / o.count as f64),
        _ => String::new(),
    };
    print(o, wall, cpu, &more);
    exit(0)
}

fn main() {
    let o = parse();
    end_on_refusal();
    match (o.implementation.as_str(), o.mode.as_str()) {
        ("rust-thread", "each") => measure(&o, 1_000, &|n| threads(n, o.work)),
        ("rust-thread", "waiting") => waiting(&o),
        ("rayon", "each") => {
            let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
            measure(&o, 100_000, &|n| tasks(&pool, n, o.work))
        }
        ("rust-thread" | "rayon", _) => exit(STATUS_NO_SUCH_MODE),
        (other, _) => usage(&format!("unknown -impl {other}")),
    }
}

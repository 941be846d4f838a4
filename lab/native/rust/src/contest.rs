//! What both programs share.

use std::process::exit;

pub const STATUS_NO_SUCH_MODE: i32 = 8;

pub fn usage(text: &str) -> ! {
    eprintln!("{text}");
    exit(2)
}

pub fn cpu_seconds() -> f64 {
    let mut u: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut u) };
    let s = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    s(u.ru_utime) + s(u.ru_stime)
}

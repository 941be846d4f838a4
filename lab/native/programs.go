package native

import (
	"slices"
	"strings"
)

// ProgramsFor lists the programs for a question, in the order of reports.
func ProgramsFor(q Question) []Program {
	return slices.DeleteFunc(Programs(), func(p Program) bool { return p.Question != q })
}

// Programs lists all programs, in the order of reports.
func Programs() []Program {
	pools := golang("go", Dispatch, "_go", "dispatch", "", "Go from go.dev/dl",
		"errgroup", "ants", "ants-func", "pond", "conc", "workerpool")
	pools.shared = "contest"
	return []Program{
		// Package probe has the contestants that need no module.
		pools,
		cpp("cpp-std", Dispatch, "article.cpp", "-std=c++17", "", "libc6-dev", "cpp-std"),
		cpp("cpp-boost", Dispatch, "article.cpp", "-std=c++17 -DBOOST", "-lboost_thread -lboost_system", "libboost-thread-dev", "cpp-boost"),
		cpp("tbb", Dispatch, "tbb.cpp", "-std=c++17", "-ltbb", "libtbb-dev", "tbb-group", "tbb-enqueue", "tbb-parallel-for", "tbb-pointer"),
		cpp("asio", Dispatch, "asio.cpp", "-std=c++17", "", "libboost-dev", "asio"),
		cpp("openmp", Dispatch, "openmp.cpp", "-std=c++17 -fopenmp", "", "libgomp1", "openmp"),
		rust("rust", Dispatch, "rayon", "crossbeam"),
		java("java", Dispatch, jdkLeast, "forkjoin"),

		// Go's contestant is probe.Spawn. Without errno a square root is one instruction, as
		// in Go.
		cpp("cpp-thread", Spawn, "spawn.cpp", "-std=c++20 -fno-math-errno", "", "libc6-dev", "cpp-thread"),
		rust("rust-spawn", Spawn, "rust-thread", "rayon"),
		java("java-thread", Spawn, jdkLeast, "java-thread"),
		java("java-virtual", Spawn, jdkVirtual, "java-virtual"),
		{
			Name: "erlang", Question: Spawn, Language: "Erlang", Impls: []string{"erlang"},
			folder: "erlang", build: []string{"erlc", "+deterministic", "spawn.erl"},
			version: []string{"erl", "-noshell", "-noinput", "-eval", `io:format("Erlang/OTP ~s", [erlang:system_info(otp_release)]), halt().`},
			// +P is the maximum number of processes. The log would mix with the output. Words
			// after -extra are the program's own flags.
			run:     strings.Fields("erl -noshell -noinput +P 4194304 -env ERL_CRASH_DUMP /dev/null -kernel logger_level none -s spawn main -extra"),
			install: "apt-get install erlang-base",
		},

		golang("cgo", Call, "_call", "call", "1", "Go from go.dev/dl and apt-get install gcc libc6-dev", "cgo", "go"),
		golang("inserts", Insert, "_db", "inserts", "0", "Go from go.dev/dl", "postgres"),
	}
}

// golang returns a program of a Go module. Its files have names that go:embed accepts. cgo is the
// value of CGO_ENABLED; "" = the caller's.
func golang(name string, q Question, folder, program, cgo, install string, impls ...string) Program {
	p := Program{
		Name: name, Question: q, Language: "Go", Impls: impls,
		folder: folder, renamed: map[string]string{"go.mod.txt": "go.mod", "go.sum.txt": "go.sum"},
		build: []string{"go", "build", "-o", program, "."}, run: []string{"./" + program},
		version: []string{"go", "version"}, install: install,
	}
	if cgo != "" {
		p.env = []string{"CGO_ENABLED=" + cgo}
	}
	return p
}

func cpp(name string, q Question, source, flags, libraries, install string, impls ...string) Program {
	build := strings.Fields("g++ -O2 -pthread -Wall " + flags + " -o " + name + " " + source + " " + libraries)
	return Program{
		Name: name, Question: q, Language: "C++", Impls: impls,
		folder: "cpp", build: build, run: []string{"./" + name},
		install: "apt-get install g++ " + install,
	}
}

// rust returns one of several programs that share a build.
func rust(name string, q Question, impls ...string) Program {
	return Program{
		Name: name, Question: q, Language: "Rust", Impls: impls,
		folder: "rust", renamed: map[string]string{"Cargo.toml.txt": "Cargo.toml", "Cargo.lock.txt": "Cargo.lock"},
		build:   []string{"cargo", "build", "--release", "--quiet", "--locked"},
		run:     []string{"./target/release/" + string(q)},
		install: "apt-get install cargo-web (Debian 12) or cargo (Debian 13)",
	}
}

const (
	jdkLeast   = 17
	jdkVirtual = 21 // first version with virtual threads
)

// java returns one of several programs that share a build. Every JDK that satisfies one of the
// programs can run the classes.
func java(name string, q Question, jdk int, impls ...string) Program {
	class, install := "Dispatch", "apt-get install default-jdk-headless"
	if q == Spawn {
		class = "Spawn"
	}
	if jdk > jdkLeast {
		install = "apt-get install openjdk-21-jdk-headless (Debian 13) or a JDK from adoptium.net (Debian 12)"
	}
	return Program{
		Name: name, Question: q, Language: "Java", Impls: impls,
		folder: "java", jdk: jdk,
		build:   []string{"javac", "--release", "17", "Cpu.java", "Dispatch.java", "Spawn.java"},
		run:     []string{"java", "-Xlog:disable", "-cp", ".", class},
		install: install,
	}
}

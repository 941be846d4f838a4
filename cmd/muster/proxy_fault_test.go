package main_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"strings"
	"sync"
)

// proxyFault is an action on some requests.
type proxyFault struct {
	method      string
	first, last int // last = 0 means no end
	do          string
	words       []string
}

func parseFault(text string) (f proxyFault, err error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return f, fmt.Errorf("fault %q: METHOD COUNT DO", text)
	}
	f.method, f.do, f.words = words[0], words[2], words[3:]
	from, to, several := strings.Cut(words[1], "-")
	switch {
	case words[1] == "*":
		f.first = 1
	case !several:
		to = from
		fallthrough
	default:
		if f.first, err = strconv.Atoi(from); err == nil && to != "" {
			f.last, err = strconv.Atoi(to)
		}
	}
	return f, err
}

func (f proxyFault) concerns(method string, n int) bool {
	return (f.method == "*" || f.method == method) && n >= f.first && (f.last == 0 || n <= f.last)
}

// number parses a word of a fault as a number, or returns otherwise.
func (f proxyFault) number(word, otherwise int) int {
	if n, err := strconv.Atoi(strings.Join(f.words[min(word, len(f.words)):min(word+1, len(f.words))], "")); err == nil {
		return n
	}
	return otherwise
}

// fail applies a fault to a request.
func (p *proxyServer) fail(f proxyFault, w http.ResponseWriter, r *http.Request) {
	end, kill := f.number(0, -1), p.cut
	switch f.do {
	case "answer":
		answer(w, f.words[0], strings.Join(f.words[1:], " "))
		return
	case "hold":
		p.tell()
		<-r.Context().Done()
		return
	case "late":
		w = &lateWriter{ResponseWriter: w, wait: sync.OnceFunc(func() { p.came(r.Context(), f.words[0], f.number(1, 1)) })}
		kill = func() {}
	case "gone":
		p.listener.Close()
		p.cut()
		p.tell()
		return
	case "reset":
		ctx, cancel := context.WithCancel(r.Context())
		r, kill = r.WithContext(ctx), cancel
	case "end":
		kill = p.engine.end
	case "restart", "renew":
		kill = func() { p.must(p.engine.restart(f.do == "renew")) }
	}
	kill = sync.OnceFunc(kill)
	if end < 0 {
		sent := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { go kill() }}
		p.to.ServeHTTP(w, r.WithContext(httptrace.WithClientTrace(r.Context(), sent)))
		return
	}
	count := &byteCount{left: end, over: kill}
	r.Body = &countedBody{r.Body, count}
	p.to.ServeHTTP(&countedWriter{w, count}, r)
}

// must is for errors after which no test can go on: the engine would not start again.
func (p *proxyServer) must(err error) {
	if err != nil {
		p.listener.Close()
		p.cut()
	}
}

// tell writes to the named pipe, if somebody waits there.
func (p *proxyServer) tell() {
	pipe, err := os.OpenFile(p.ready, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer pipe.Close()
	_, _ = io.WriteString(pipe, "\n") // the waiting process may be gone
}

// answer is a gRPC status without a message.
func answer(w http.ResponseWriter, code, text string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", code)
	w.Header().Set("Grpc-Message", text)
}

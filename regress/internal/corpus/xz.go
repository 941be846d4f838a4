package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/xi2/xz"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// xzDictionaryMax is the largest dictionary that the xz library may allocate, in bytes: that of xz
// -9. The format allows 4 GiB in every block, and a kilobyte can hold dozens of blocks.
const xzDictionaryMax = 64 << 20

// xzDecoder uses the xz program if it is installed. The program is several times as fast as the
// library.
func xzDecoder(ctx context.Context, label string, src io.Reader) (io.ReadCloser, error) {
	if path, err := exec.LookPath("xz"); err == nil {
		if p, err := startXZ(ctx, path, label, src); err == nil {
			return p, nil
		}
	}
	r, err := xz.NewReader(src, xzDictionaryMax)
	return xzStream{r}, xzError(err)
}

// An xzStream is a stream that the library unpacks.
type xzStream struct{ r *xz.Reader }

func (x xzStream) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	return n, xzError(err)
}

func (x xzStream) Close() error { return nil }

func xzError(err error) error {
	if errors.Is(err, xz.ErrMemlimit) {
		return fmt.Errorf("its dictionary has more than %s; install the xz program, or repack it with xz -9 or less", readable.BinarySize(xzDictionaryMax))
	}
	return err
}

// xzMemory bounds the memory of the xz program. Unpacking the output of xz -9 needs 65 MiB, and a
// dictionary may be larger still.
const xzMemory = "512MiB"

// xzProgram is the output of a running xz -dc. At the end, Read waits for the program and returns
// its failure instead of io.EOF: a stream that merely stopped must not pass for a whole one. Only
// one goroutine may use it.
type xzProgram struct {
	label  string // of the archive
	cmd    *exec.Cmd
	out    io.Reader
	errors bytes.Buffer
	ended  bool
	err    error // set at the end
}

// startXZ starts the program. A cancelled context kills it.
func startXZ(ctx context.Context, path, label string, src io.Reader) (*xzProgram, error) {
	p := &xzProgram{label: label, cmd: exec.CommandContext(ctx, path, "--decompress", "--stdout", "--no-warn", "--threads=0", "--memlimit-decompress="+xzMemory)}
	p.cmd.Stdin = src
	p.cmd.Stderr = &p.errors
	p.cmd.Env = []string{"LC_ALL=C"} // without XZ_OPT and XZ_DEFAULTS
	// A source that blocks must not delay the end of a failed program.
	p.cmd.WaitDelay = 2 * time.Second
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

func (p *xzProgram) Read(b []byte) (int, error) {
	if p.ended {
		return 0, p.err
	}
	n, err := p.out.Read(b)
	if err == nil || n > 0 {
		return n, nil
	}
	p.end()
	return 0, p.err
}

func (p *xzProgram) end() {
	err := p.cmd.Wait()
	p.ended, p.err = true, io.EOF
	if err == nil {
		return
	}
	message := strings.TrimSpace(p.errors.String())
	message = strings.TrimPrefix(message, p.cmd.Path+": (stdin): ")
	p.err = fmt.Errorf("xz: %s (%w)", message, err)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() < 0 {
		if message != "" {
			err = fmt.Errorf("%w: %s", err, message)
		}
		p.err = &finalError{fault.Environmentf("%s cannot be unpacked: the xz program failed: %w; free memory and run again, or name the archive unpacked", p.label, err)}
	}
}

// Close kills the program if it still runs.
func (p *xzProgram) Close() error {
	if p.ended {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	p.end()
	return nil
}

package lane

import (
	"errors"
	"io"
	"syscall"

	"muster/regress/lane/scan"
)

// init makes the process a lane helper if it was started as one. It runs before "os" and
// everything above it has been initialised (see the package comment). So everything that it
// calls may use system calls only. On other systems the program runs no cases, and reports that.
func init() {
	if startedAsHelper() {
		syscall.Exit(serve())
	}
}

// startedAsHelper reports whether the first argument is Argument. os.Args is not set yet.
func startedAsHelper() bool {
	var buf [8192]byte // argument 0 is a path, of up to 4096 bytes
	line, err := readFile("/proc/self/cmdline", buf[:])
	if err != nil {
		return false
	}
	_, rest, _ := scan.Cut(line, 0)
	first, _, ended := scan.Cut(rest, 0)
	return ended && string(first) == Argument
}

// serve answers the messages of one parent until that closes the socket. It returns the
// process's exit status.
func serve() int {
	resetSignals()
	err := converse()
	if err == nil {
		return 0
	}
	text := append([]byte(err.Error()), '\n')
	_ = writeFull(2, text) // nobody is left to report an error to
	return 1
}

// converse handles the conversation from the first message to the parent's end.
func converse() error {
	if err := errors.Join(closeOnExec(), setIdlePatience(), wakeAtParentsEnd()); err != nil {
		return err
	}
	var setup Setup
	var in Frames
	message, err := in.Next(receive)
	if err == nil {
		err = setup.Decode(message)
	}
	if err != nil {
		return err
	}
	h, err := prepare(&setup)
	if err != nil {
		no := Ready{Fault: err.Error(), CorpusChanged: errors.Is(err, errChanged), DiskFull: isFull(err)}
		return writeFull(AnswersFD, no.AppendFrame(nil))
	}
	ready := Ready{NoInotify: h.folder.watch.blind(), Floor: h.memory.shedStartup(), HelperCPU: ownCPU()}
	if err := writeFull(AnswersFD, ready.AppendFrame(nil)); err != nil {
		return err
	}
	return runBatches(h, &in)
}

// runBatches runs batches until the parent hangs up, or until the helper should be replaced.
func runBatches(h *helper, in *Frames) error {
	var batch Batch
	for {
		message, err := in.Next(receive)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = batch.Decode(message)
		}
		if err != nil {
			return err
		}
		if over, err := h.runBatch(batch.Jobs); over || err != nil {
			return err
		}
	}
}

package bundle

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// script lays out what begins with #!, and the program that interprets it.
func (m *making) script(file, real string) (started, error) {
	words, err := hashBang(real)
	if err != nil {
		return started{}, unreadable(file, err)
	}
	if len(words) == 0 {
		return started{}, fault.Inputf("%s cannot be bundled: it is neither an ELF program nor a script that begins with #!; send it by --remote-input", name.Print(file))
	}
	if path.Base(words[0]) == "env" && len(words) > 1 {
		if words = strings.Fields(strings.TrimPrefix(words[1], "-S")); len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") {
			return started{}, fault.Inputf("%s cannot be bundled: its first line asks env for more than a program; name the interpreter there", name.Print(file))
		}
		found, err := exec.LookPath(words[0])
		if err != nil {
			return started{}, fault.Inputf("%s cannot be bundled: its interpreter %s is not found: %w", name.Print(file), name.Print(words[0]), err)
		}
		words = append([]string{found}, words[1:]...)
	}
	if again, err := hashBang(words[0]); err != nil || again != nil {
		return started{}, fault.Inputf("%s cannot be bundled: its interpreter %s cannot be read, or is a script itself", name.Print(file), name.Print(words[0]))
	}
	s, err := m.program(words[0])
	if err != nil {
		return s, err
	}
	at := m.within(real)
	if at == "" {
		at = path.Join(binFolder, filepath.Base(file))
		if err := m.add(item{path: at, source: real, exec: true}); err != nil {
			return s, err
		}
	}
	m.note(fmt.Sprintf("%s is a script: its interpreter travels with it, the programs that it starts do not", name.Print(file)))
	s.after = append(append([]string{}, words[1:]...), above+at)
	return s, nil
}

// hashBang returns the interpreter of a script with its one argument, or nil.
func hashBang(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "#!")
	if !ok {
		return nil, nil
	}
	first, argument, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if argument = strings.TrimSpace(argument); argument != "" {
		return []string{first, argument}, nil
	}
	return []string{first}, nil
}

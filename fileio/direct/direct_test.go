package direct_test

import (
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, func(*testing.T) fileio.Engine { return &direct.Engine{} })
}

package reapi

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"muster/regress/internal/exec/reapi/tree"
)

// usage reads what Buildbarn and buildbox report of a command's resources: user and system time
// in fields 1 and 2, and the largest resident size in field 3, in bytes or in KiB. Their
// messages are in no Go module that comes without the rest of the engine.
func usage(extra *anypb.Any) (cpu time.Duration, peak int64, ok bool) {
	message := extra.GetValue()
	unit := uint64(1)
	switch extra.MessageName() {
	case "buildbarn.resourceusage.POSIXResourceUsage":
		unit = 1 << 10
	case "build.buildbox.ExecutionStatistics":
		message = field(message, 1).bytes
	default:
		return 0, 0, false
	}
	user, system := field(message, 1), field(message, 2)
	if user.bytes == nil && system.bytes == nil {
		return 0, 0, false
	}
	resident := field(message, 3).number / unit
	if user.duration() > spanMax || system.duration() > spanMax || resident > peakMax {
		return 0, 0, false
	}
	return user.duration() + system.duration(), int64(resident), true
}

// value is a field of a message that has no Go type here.
type value struct {
	bytes  []byte
	number uint64
}

// field returns the last occurrence of a number in a message. If the message is damaged, it
// returns the last one before the damage.
func field(message []byte, wanted protowire.Number) (found value) {
	_ = tree.Fields(message, func(field protowire.Number, b []byte, n uint64) error {
		if field == wanted {
			found = value{b, n}
		}
		return nil
	})
	return found
}

func (v value) duration() time.Duration {
	var d durationpb.Duration
	if proto.Unmarshal(v.bytes, &d) != nil || d.CheckValid() != nil {
		return 0
	}
	return max(0, d.AsDuration())
}

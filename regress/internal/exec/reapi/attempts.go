package reapi

import (
	"context"
	"errors"
	"time"

	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/fault"
)

// attemptsMax is how often an action is tried whose inputs or outputs the engine loses
// meanwhile. After the first, shared ones it is tried alone: an engine with little room loses
// them because of what is uploaded and executed for others.
const (
	attemptsMax    = 5
	sharedAttempts = 2
)

// pauseMin is before the first attempt alone; it doubles with each one after that: engines
// make room beside what they do, and say of what they are about to drop that they have it.
const pauseMin = 200 * time.Millisecond

// exclusiveWeight is what an action takes of Engine.exclusion that is tried alone; beside
// others it is 1.
const exclusiveWeight = 1 << 30

// nthAttempt does something for the nth time: beside what is done for others, or alone.
func (run *actionRun) nthAttempt(ctx context.Context, n int, do func(*actionRun) error) error {
	if run.exclusive || n <= sharedAttempts {
		return do(run)
	}
	if err := run.engine.exclusion.Acquire(ctx, exclusiveWeight); err != nil {
		return err
	}
	defer run.engine.exclusion.Release(exclusiveWeight)
	if err := run.engine.client.Pause(ctx, pauseMin<<(n-sharedAttempts-1)); err != nil {
		return err
	}
	alone := *run
	alone.exclusive = true
	return do(&alone)
}

// exhausted is the error after the last attempt, about contents that the engine does not keep
// for long enough, and what may mend it.
func exhausted(err error) error {
	if m := (*client.MissingError)(nil); errors.As(err, &m) && !m.AboutContents() {
		return fault.Environmentf("%w (%d attempts); the engine has nothing that fits perhaps: --platform says what a worker must have", err, attemptsMax)
	}
	return fault.Environmentf("%w (%d attempts, the last with nothing else under way): the engine does not keep what a case needs for as long as it needs it; its store wants more room", err, attemptsMax)
}

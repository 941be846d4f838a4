package reapi

import (
	"context"
	"errors"
	"time"

	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/fault"
)

// attemptsMax bounds the attempts at an action whose inputs or outputs the engine loses. After
// the first attempts, which run beside others, the action is tried alone: an engine with little
// room loses contents because of uploads and executions for others.
const (
	attemptsMax    = 5
	sharedAttempts = 2
)

// pauseMin is the pause before the first attempt alone. It doubles with each further one.
// Engines free room in the background, and still report contents that they are about to drop.
const pauseMin = 200 * time.Millisecond

// exclusiveWeight is the share of Engine.exclusion that an action takes when it is tried alone.
// Beside others it takes 1.
const exclusiveWeight = 1 << 30

// nthAttempt makes the nth attempt: beside others, or alone.
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

// exhausted returns the error after the last attempt: the engine does not keep contents for
// long enough. It suggests remedies.
func exhausted(err error) error {
	if m := (*client.MissingError)(nil); errors.As(err, &m) && !m.AboutContents() {
		return fault.Environmentf("%w (%d attempts); perhaps no worker of the engine fits: --platform names what a worker must have", err, attemptsMax)
	}
	return fault.Environmentf("%w (%d attempts, the last with nothing else under way): the engine does not keep what a case needs for as long as it needs it; its store wants more room", err, attemptsMax)
}

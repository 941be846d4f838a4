package crew

import (
	"context"
	"fmt"

	"muster/regress/internal/exec/reapi"
)

// Connect returns a crew: an engine if the options name one, else this machine. If the engine
// cannot be reached and the options allow it, Connect warns, and the cases run here.
func Connect(ctx context.Context, o Options) (Crew, error) {
	if o.Engine.URL == "" {
		return NewHere(o), nil
	}
	e, err := dial(ctx, o)
	switch {
	case err == nil:
		return e, nil
	case o.Engine.Fallback && reapi.Unreachable(err) && ctx.Err() == nil:
		o.Warn(fmt.Sprintf("%v: by --remote-fallback the cases run on this machine", err))
		return NewHere(o), nil
	}
	return nil, err
}

package terminal
import ("context";"os"; "muster/regress/internal/review"
tea "charm.land/bubbletea/v2")
type Streams struct { In, Out *os.File; Colour bool; Environ []string }
func Run(ctx context.Context, d *review.Desk, s Streams) ([]review.Result, error) { tea.NewProgram(nil).Run(); return nil, nil }

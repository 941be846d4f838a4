package pool

// A ring is a queue with a fixed number of places.
type ring[T any] struct {
	places []T
	head   int // the place of the oldest value
	count  int
}

func (r *ring[T]) free() int { return len(r.places) - r.count }

// push adds v. The caller has made sure that there is room.
func (r *ring[T]) push(v T) {
	tail := r.head + r.count
	if tail >= len(r.places) {
		tail -= len(r.places)
	}
	r.places[tail] = v
	r.count++
}

// pop takes the oldest value. The caller has made sure that there is one.
func (r *ring[T]) pop() T {
	v := r.places[r.head]
	var zero T
	r.places[r.head] = zero // or the ring would keep alive what v points to
	r.head++
	if r.head == len(r.places) {
		r.head = 0
	}
	r.count--
	return v
}

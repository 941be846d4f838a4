package pool

// A ring is a queue with a fixed number of places.
type ring[T any] struct {
	places []T
	head   int // the place of the oldest value
	count  int
}

// push adds v. The caller has made sure that there is room.
func (r *ring[T]) push(v T) {
	r.places[r.tail()] = v
	r.count++
}

// pushAll adds vs. The caller has made sure that there is room.
func (r *ring[T]) pushAll(vs []T) {
	n := copy(r.places[r.tail():], vs)
	copy(r.places, vs[n:])
	r.count += len(vs)
}

// popAll fills to with the oldest values. The caller has made sure that the ring has enough.
func (r *ring[T]) popAll(to []T) {
	n := copy(to, r.places[r.head:])
	clear(r.places[r.head : r.head+n]) // the ring must not keep their pointers alive
	m := copy(to[n:], r.places)
	clear(r.places[:m])
	if r.head += len(to); r.head >= len(r.places) {
		r.head -= len(r.places)
	}
	r.count -= len(to)
}

// tail is the place behind the newest value.
func (r *ring[T]) tail() int {
	tail := r.head + r.count
	if tail >= len(r.places) {
		tail -= len(r.places)
	}
	return tail
}

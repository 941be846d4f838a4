package fair

import "container/list"

// A line has members by name. Some of them stand in a queue.
type line[M any] struct {
	members map[string]*member[M]
	order   list.List // of *member[M]
}

type member[M any] struct {
	is M
	at *list.Element // in the queue; nil = it stands outside
}

// member returns the member of that name. It adds one that is missing.
func (l *line[M]) member(name string) *M {
	m := l.members[name]
	if m == nil {
		if l.members == nil {
			l.members = map[string]*member[M]{}
		}
		m = &member[M]{}
		l.members[name] = m
	}
	return &m.is
}

// drop forgets a member that stands outside the queue.
func (l *line[M]) drop(name string) { delete(l.members, name) }

// queue adds a member at the queue's end, unless it stands in the queue already.
func (l *line[M]) queue(name string) {
	if m := l.members[name]; m.at == nil {
		m.at = l.order.PushBack(m)
	}
}

// unqueue takes a member out of the queue.
func (l *line[M]) unqueue(name string) {
	m := l.members[name]
	l.order.Remove(m.at)
	m.at = nil
}

// queued yields the members of the queue, from its head on.
func (l *line[M]) queued(yield func(*M) bool) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if !yield(&e.Value.(*member[M]).is) {
			return
		}
	}
}

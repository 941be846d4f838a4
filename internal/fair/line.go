package fair

import "container/list"

// A line has members by name. Some of them are in a queue.
type line[M any] struct {
	members map[string]*member[M]
	order   list.List // of *member[M]
}

type member[M any] struct {
	value    M
	position *list.Element // in the queue; nil = not queued
}

// member returns the member of that name, and adds it if it is missing.
func (l *line[M]) member(name string) *M {
	m := l.members[name]
	if m == nil {
		if l.members == nil {
			l.members = map[string]*member[M]{}
		}
		m = &member[M]{}
		l.members[name] = m
	}
	return &m.value
}

// drop removes a member that is not queued.
func (l *line[M]) drop(name string) { delete(l.members, name) }

// queue adds a member at the end of the queue, unless it is queued already.
func (l *line[M]) queue(name string) {
	if m := l.members[name]; m.position == nil {
		m.position = l.order.PushBack(m)
	}
}

// unqueue removes a member from the queue.
func (l *line[M]) unqueue(name string) {
	m := l.members[name]
	l.order.Remove(m.position)
	m.position = nil
}

// queued yields the queued members, first to last.
func (l *line[M]) queued(yield func(*M) bool) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if !yield(&e.Value.(*member[M]).value) {
			return
		}
	}
}

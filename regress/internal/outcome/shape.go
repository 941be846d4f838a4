package outcome

import (
	"slices"
)

// Shape is the kind of a part in one run, without its content.
type Shape uint8

// The closed set of shapes. Their numbers are part of the golden's format.
const (
	Absent    Shape = iota // the run did not leave the part
	Empty                  // no bytes
	Filled                 // some bytes
	EmptyExec              // no bytes, with the executable bit
	FilledExec
	Link
	Removed // a given file that the run removed
	shapesCount
)

var shapeNames = [shapesCount]string{"absent", "empty", "filled", "empty-executable", "filled-executable", "link", "removed"}

// String returns the shape's name.
func (s Shape) String() string { return shapeNames[s] }

// ParseShape returns the shape of that name.
func ParseShape(name string) (Shape, bool) {
	i := slices.Index(shapeNames[:], name)
	return Shape(max(i, 0)), i >= 0
}

// Shapes is a set of shapes. Bit n stands for shape n.
type Shapes uint8

// AllShapes has every shape.
const AllShapes Shapes = 1<<shapesCount - 1

// ShapesOf returns the set of the given shapes.
func ShapesOf(list ...Shape) (set Shapes) {
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

// List returns the shapes of the set in ascending order.
func (s Shapes) List() (list []Shape) {
	for one := range shapesCount {
		if s&(1<<one) != 0 {
			list = append(list, one)
		}
	}
	return list
}

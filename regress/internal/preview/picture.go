// Package preview prepares contents that are not text for a page: pictures, scaled and encoded anew,
// and the entries of archives. A content shows by itself what it is; its name is not asked.
//
// Contents are hostile. Their pixels, bytes and entries are bounded before they are decoded. The
// package is pure, and must not know how a page looks.
package preview

import (
	"bytes"
	"image"
	_ "image/gif"  // a format of image.Decode
	_ "image/jpeg" // a format of image.Decode
	"image/png"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format of image.Decode

	"muster/internal/readable"
)

// BytesMax is the size of the largest content that is decoded.
const BytesMax = 8 << 20

const (
	pixelsMax = 4 << 20
	sideMax   = 1 << 14 // pixels, of the larger side
	sideLeast = 64      // pixels, of a picture that has to become smaller
	scansMax  = 100     // of a JPEG: each may cost a pass over all pixels in a few bytes
)

// A Picture is the image of a content, as a PNG without anything else of it.
type Picture struct {
	Format        string // png, jpeg, gif or webp
	Width, Height int    // of the content, in pixels
	PNG           []byte // perhaps smaller
}

// Pictures are both sides of a part. They have the same scale.
type Pictures struct {
	Old, Now *Picture // nil for a side without content
	// Differing is the number of pixels with different colours, or -1 if the sizes differ or a side
	// has no content.
	Differing int
}

// Words describes a picture.
func (p *Picture) Words() string {
	return strings.ToUpper(p.Format) + ", " + readable.Number(p.Width) + " × " + readable.Number(p.Height) + " pixels"
}

// Words says how much differs.
func (p *Pictures) Words() string {
	switch {
	case p.Old == nil || p.Now == nil:
		return "One side has no picture."
	case p.Differing < 0:
		return "The sizes differ."
	case p.Differing == 0:
		return "All pixels are equal: the encoding, further frames or other data differ."
	}
	return readable.Number(p.Differing) + " of " + readable.Count(p.Now.Width*p.Now.Height, "pixel") + " differ."
}

// PicturesOf decodes both sides of a part. One side may be empty. The result is nil if one of them
// is no picture, or is too large, or if both are the same. Of several frames it has the first. It has at most bytesMax bytes a side, and side pixels for the larger
// side of each picture.
func PicturesOf(old, now []byte, side, bytesMax int) *Pictures {
	if bytes.Equal(old, now) {
		return nil
	}
	a, aFormat, ok := decode(old)
	if !ok {
		return nil
	}
	b, bFormat, ok := decode(now)
	if !ok {
		return nil
	}
	p := &Pictures{Differing: differing(a, b)}
	for ; side >= sideLeast; side /= 2 {
		scale := min(1, float64(side)/float64(max(longer(a), longer(b))))
		p.Old, p.Now = encode(a, aFormat, scale), encode(b, bFormat, scale)
		if p.Old.size() <= bytesMax && p.Now.size() <= bytesMax {
			return p
		}
	}
	return nil
}

func decode(content []byte) (img image.Image, format string, ok bool) {
	if len(content) == 0 {
		return nil, "", true
	}
	size, ok := sizeOf(content)
	if !ok {
		return nil, "", false
	}
	img, format, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, "", false
	}
	if img.Bounds() != size { // the frame of a GIF may fill a part of it
		whole := image.NewNRGBA(size)
		draw.Draw(whole, img.Bounds(), img, img.Bounds().Min, draw.Src)
		img = whole
	}
	return img, format, true
}

// IsPicture reports whether a content is a picture of a size that is shown, by its header.
func IsPicture(content []byte) bool {
	_, ok := sizeOf(content)
	return ok
}

// sizeOf returns the size of a picture in pixels. ok is false if the content is none, or is beyond a bound.
func sizeOf(content []byte) (size image.Rectangle, ok bool) {
	if len(content) > BytesMax || isExtendedWebP(content) {
		return size, false
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || c.Width <= 0 || c.Height <= 0 || c.Width > sideMax || c.Height > sideMax || c.Width*c.Height > pixelsMax {
		return size, false
	}
	if format == "jpeg" && bytes.Count(content, []byte(startOfScan)) > scansMax {
		return size, false
	}
	return image.Rect(0, 0, c.Width, c.Height), true
}

const startOfScan = "\xff\xda" // it is not within the data of a scan

// isExtendedWebP reports whether a content is a WebP whose header does not bound the size of its image.
func isExtendedWebP(content []byte) bool {
	const kindAt = 12
	return bytes.HasPrefix(content, []byte("RIFF")) && len(content) > kindAt && bytes.HasPrefix(content[kindAt:], []byte("VP8X"))
}

func longer(img image.Image) int {
	if img == nil {
		return 1
	}
	return max(img.Bounds().Dx(), img.Bounds().Dy())
}

// encode returns nil for a side without content.
func encode(img image.Image, format string, scale float64) *Picture {
	if img == nil {
		return nil
	}
	box := img.Bounds()
	p := &Picture{Format: format, Width: box.Dx(), Height: box.Dy()}
	small := image.NewNRGBA(image.Rect(0, 0, max(1, int(scale*float64(p.Width))), max(1, int(scale*float64(p.Height)))))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, box, draw.Src, nil)
	var b bytes.Buffer
	if err := png.Encode(&b, small); err != nil {
		return p // a buffer takes everything, and the size is not 0
	}
	p.PNG = b.Bytes()
	return p
}

func (p *Picture) size() int {
	if p == nil {
		return 0
	}
	return len(p.PNG)
}

// differing counts the pixels with different colours.
func differing(a, b image.Image) (n int) {
	if a == nil || b == nil || a.Bounds().Size() != b.Bounds().Size() {
		return -1
	}
	at, bt := a.Bounds(), b.Bounds()
	for y := range at.Dy() {
		for x := range at.Dx() {
			ar, ag, ab, aa := a.At(at.Min.X+x, at.Min.Y+y).RGBA()
			br, bg, bb, ba := b.At(bt.Min.X+x, bt.Min.Y+y).RGBA()
			if ar != br || ag != bg || ab != bb || aa != ba {
				n++
			}
		}
	}
	return n
}

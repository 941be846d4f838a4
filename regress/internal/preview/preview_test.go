package preview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// drawn is a picture with one dot in a colour.
func drawn(width, height int, dot color.Color) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, dot})
	img.SetColorIndex(1, 1, 1)
	return img
}

func encoded(t *testing.T, format string, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPictures(t *testing.T) {
	red, blue := drawn(40, 30, color.RGBA{200, 0, 0, 255}), drawn(40, 30, color.RGBA{0, 0, 200, 255})
	for _, c := range []struct {
		title     string
		old, now  []byte
		differing int
		words     string // of the new one
	}{
		{"png", encoded(t, "png", red), encoded(t, "png", blue), 1, "PNG, 40 × 30 pixels"},
		{"gif", encoded(t, "gif", red), encoded(t, "gif", blue), 1, "GIF, 40 × 30 pixels"},
		{"the same pixels", encoded(t, "png", red), encoded(t, "gif", red), 0, "GIF, 40 × 30 pixels"},
		{"sizes", encoded(t, "png", red), encoded(t, "jpeg", drawn(20, 30, color.Black)), -1, "JPEG, 20 × 30 pixels"},
		{"webp", encoded(t, "png", red), riff(onePixel), -1, "WEBP, 1 × 1 pixels"},
		{"added", nil, encoded(t, "png", red), -1, "PNG, 40 × 30 pixels"},
	} {
		p := PicturesOf(c.old, c.now, 1000, 1<<20)
		if p == nil || p.Differing != c.differing || p.Now.Words() != c.words || (p.Old == nil) != (c.old == nil) {
			t.Errorf("%s: %+v", c.title, p)
			continue
		}
		if again, err := png.Decode(bytes.NewReader(p.Now.PNG)); err != nil || again.Bounds().Dx() != p.Now.Width {
			t.Errorf("%s: %v", c.title, err)
		}
	}
}

// onePixel is the image of a WebP.
const onePixel = "VP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

func riff(chunks string) []byte {
	content := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len("WEBP"+chunks)))
	return append(content, "WEBP"+chunks...)
}

// A picture becomes as small as the page has room for. Both sides keep one scale.
func TestPicturesBecomeSmaller(t *testing.T) {
	noise := image.NewGray(image.Rect(0, 0, 800, 400))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i >> 3)
	}
	p := PicturesOf(encoded(t, "png", noise), encoded(t, "png", drawn(400, 400, color.Black)), 640, 20_000)
	if p == nil {
		t.Fatal("no pictures")
	}
	old, err := png.DecodeConfig(bytes.NewReader(p.Old.PNG))
	if err != nil {
		t.Fatal(err)
	}
	now, err := png.DecodeConfig(bytes.NewReader(p.Now.PNG))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Old.PNG) > 20_000 || old.Width >= 640 || old.Width != 2*now.Width || p.Old.Width != 800 {
		t.Errorf("%d bytes, %d and %d pixels", len(p.Old.PNG), old.Width, now.Width)
	}
	if p := PicturesOf(encoded(t, "png", noise), encoded(t, "png", noise), 640, 100); p != nil {
		t.Errorf("%d bytes", len(p.Old.PNG))
	}
}

// frames is a GIF of 40 × 30 pixels with a frame of 8 × 8 for each dot, at that place.
func frames(t *testing.T, dots ...image.Point) []byte {
	t.Helper()
	g := &gif.GIF{Config: image.Config{Width: 40, Height: 30}}
	for _, at := range dots {
		frame := image.NewPaletted(image.Rect(0, 0, 8, 8).Add(at), color.Palette{color.Black})
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A GIF is as large as its header says, its first frame is where it belongs, and nothing is said of others.
func TestFrames(t *testing.T) {
	here, there := image.Pt(0, 0), image.Pt(20, 20)
	moved := PicturesOf(frames(t, here), frames(t, there), 640, 1<<20)
	if moved == nil || moved.Differing != 128 || moved.Now.Width != 40 || moved.Now.Height != 30 {
		t.Errorf("%+v", moved)
	}
	const want = "All pixels are equal: the encoding, further frames or other data differ."
	if p := PicturesOf(frames(t, here, here), frames(t, here, there), 640, 1<<20); p == nil || p.Words() != want {
		t.Errorf("%+v", p)
	}
	if p := PicturesOf(frames(t, here), frames(t, here), 640, 1<<20); p != nil {
		t.Errorf("of the same content: %s", p.Words())
	}
}

// Contents that would take much memory or time, or are no picture, are not decoded.
func TestHostilePictures(t *testing.T) {
	fine := encoded(t, "png", drawn(4, 4, color.Black))
	claims := func(width, height uint32) []byte {
		content := bytes.Clone(fine)
		binary.BigEndian.PutUint32(content[16:], width)
		binary.BigEndian.PutUint32(content[20:], height)
		binary.BigEndian.PutUint32(content[29:], crc32.ChecksumIEEE(content[12:29]))
		return content
	}
	for title, content := range map[string][]byte{
		"text": []byte("no picture"), "cut off": fine[:len(fine)/2], "wide": claims(1<<30, 1), "large": claims(1<<14, 1<<14), "beyond": claims(1<<31-1, 1<<31-1),
		"long": append(bytes.Clone(fine), make([]byte, BytesMax)...), "many pixels": encoded(t, "png", drawn(2100, 2000, color.Black)),
		// Its header claims one pixel, and the image behind it may claim any number.
		"extended WebP": riff("VP8X\x0a\x00\x00\x00" + strings.Repeat("\x00", 10) + onePixel),
		// Each of its scans costs a pass over all pixels.
		"JPEG of many scans": append(encoded(t, "jpeg", drawn(4, 4, color.Black)), bytes.Repeat([]byte(startOfScan), scansMax)...),
	} {
		if p := PicturesOf(fine, content, 640, 1<<20); p != nil {
			t.Errorf("%s: %s", title, p.Now.Words())
		}
	}
	if PicturesOf(nil, nil, 640, 1<<20) != nil {
		t.Error("nothing has pictures")
	}
}

// A file is an entry of an archive that a test makes.
type file struct {
	name, content string
	mode          int64
}

func zipOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = w.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.content)), Mode: f.mode}
		if strings.HasPrefix(f.name, "link") {
			h.Typeflag, h.Size, h.Linkname, f.content = tar.TypeSymlink, 0, f.content, ""
		}
		if target, is := strings.CutPrefix(f.content, "hard "); is {
			h.Typeflag, h.Size, h.Linkname, f.content = tar.TypeLink, 0, target, ""
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEntries(t *testing.T) {
	old := []file{{"same", "s", 0o644}, {"../changed", "one", 0o644}, {"removed", "r", 0o600}, {"mode", "m", 0o644}, {"link", "a", 0o777}, {"twice", "1", 0o644}, {"twice", "2", 0o644}}
	now := []file{{"twice", "1", 0o644}, {"twice", "3", 0o644}, {"added", "new", 0o644}, {"../changed", "two!", 0o644}, {"mode", "m", 0o755}, {"same", "s", 0o644}, {"link", "b", 0o777}}
	inTar := "../changed changed: 3 bytes → 4 bytes\nadded added: 3 bytes, -rw-r--r--\nlink changed: 1 byte → 1 byte\n" +
		"mode changed: 1 byte → 1 byte, -rw-r--r-- → -rwxr-xr-x\nremoved removed: 1 byte, -rw-------\ntwice changed: 1 byte → 1 byte\n"
	for title, c := range map[string]struct {
		old, now []byte
		want     string
	}{
		"tar":   {tarOf(t, old[:6]...), tarOf(t, slices.Concat([]file{{"twice", "3", 0o644}}, now[2:])...), inTar},
		"gzip":  {gzipOf(t, tarOf(t, old[:6]...)), tarOf(t, slices.Concat([]file{{"twice", "3", 0o644}}, now[2:])...), inTar},
		"zip":   {zipOf(t, file{"a", "1", 0}, file{"b", "2", 0}), zipOf(t, file{"b", "22", 0}), "a removed: 1 byte, -rw-rw-rw-\nb changed: 1 byte → 2 bytes\n"},
		"order": {zipOf(t, file{"a", "1", 0}, file{"b", "2", 0}), zipOf(t, file{"b", "2", 0}, file{"a", "1", 0}), ""},
		// An entry whose name looks like that of a second one hides nothing.
		"a name like a second": {
			tarOf(t, file{"a (entry 3)", "1", 0o644}, file{"a", "2", 0o644}, file{"a", "3", 0o644}), tarOf(t, file{"a (entry 3)", "!", 0o644}, file{"a", "2", 0o644}, file{"a", "3", 0o644}),
			"a (entry 3) changed: 1 byte → 1 byte\n",
		},
		"a hard link":  {tarOf(t, file{"x", "linked", 0o644}), tarOf(t, file{"x", "hard linked", 0o644}), "x changed: 6 bytes → 6 bytes, -rw-r--r-- → hrw-r--r--\n"},
		"a name twice": {tarOf(t, old[5:]...), tarOf(t, now[:2]...), "twice (entry 2) changed: 1 byte → 1 byte\n"},
	} {
		entries, ok := EntriesOf(c.old, c.now)
		got := ""
		for _, e := range entries {
			got += e.Name + " " + e.Words() + "\n"
		}
		if !ok || got != c.want {
			t.Errorf("%s: %v\n%s\nnot\n%s", title, ok, got, c.want)
		}
	}
}

// Archives that grow beyond a bound, or are damaged, are no archives.
func TestHostileArchives(t *testing.T) {
	fine := tarOf(t, file{"a", "1", 0o644})
	zeros := strings.Repeat("\x00", unpackedBytesMax)
	many := make([]file, entriesMax+1)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	for title, content := range map[string][]byte{
		"text": []byte("no archive"), "empty": nil, "gzip of a text": gzipOf(t, []byte("text")),
		"zip bomb": zipOf(t, file{"a", zeros, 0}), "gzip bomb": gzipOf(t, tarOf(t, file{"a", zeros, 0})), "many entries": zipOf(t, many...),
		"cut off": gzipOf(t, fine)[:60], "damaged": append(bytes.Clone(fine[:512]), bytes.Repeat([]byte("x"), 2048)...), "long": make([]byte, BytesMax+1),
		"long name": tarOf(t, file{strings.Repeat("n", nameBytesMax+1), "1", 0o644}),
	} {
		if _, ok := EntriesOf(fine, content); ok {
			t.Errorf("%s is an archive", title)
		}
	}
}

// Whatever the contents are, nothing fails.
func FuzzPreview(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L"))
	f.Fuzz(func(_ *testing.T, content []byte) {
		PicturesOf(content, append(bytes.Clone(content), 0), 640, 1<<20)
		EntriesOf(content, content)
	})
}

package jsonline_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/regress/internal/jsonline"
)

type color int

func (c color) MarshalText() ([]byte, error) { return []byte("color " + string('a'+rune(c))), nil }

func (c *color) UnmarshalText(text []byte) error {
	*c = color(text[len(text)-1] - 'a')
	return nil
}

type inner struct {
	Wall  time.Duration `line:"wall_ms"`
	Count int           `line:"count,omitempty"`
}

type Embedded struct {
	Ratio float64 `line:"ratio"`
}

type thing struct {
	Embedded
	Name   string    `line:"name,name"`
	Text   string    `line:"text"`
	Color  color     `line:"color"`
	Wait   int       `line:"wait,known=Known"`
	Known  bool      // has no key
	Parts  []string  `line:"parts,name"`
	Range  Embedded  `line:"range,null"`
	Old    inner     `line:"old_,inline"`
	Other  *inner    `line:"other"`
	Things []inner   `line:"things,omitempty"`
	At     time.Time `line:"at"`
}

func encode(t *testing.T, o jsonline.Object) string {
	t.Helper()
	var b strings.Builder
	if err := jsonline.NewEncoder().WriteLine(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func decode(line string) (any, error) {
	return jsonline.NewDecoder(map[string]reflect.Type{"thing": reflect.TypeFor[thing]()}).Line([]byte(line))
}

func full() thing {
	return thing{
		Embedded: Embedded{1.5}, Name: "a\n\xff", Text: "<b>\t", Color: 2, Wait: 0, Known: true, Parts: []string{"p%"}, Range: Embedded{2},
		Old: inner{Wall: 1500, Count: 3}, Other: &inner{Wall: time.Second}, Things: []inner{{Count: 1}}, At: time.Date(2025, 1, 31, 14, 25, 1, 5e8, time.UTC),
	}
}

const fullLine = `{"type":"thing","ratio":1.5,"name":"a%0A%FF","text":"<b>\t","color":"color c","wait":0,"parts":["p%25"],"range":{"ratio":2},` +
	`"old_wall_ms":0.0015,"old_count":3,"other":{"wall_ms":1000},"things":[{"wall_ms":0,"count":1}],"at":"2025-01-31T14:25:01.5Z"}` + "\n"

func TestLines(t *testing.T) {
	empty := `{"type":"thing","ratio":0,"name":"","text":"","color":"color a","wait":null,"parts":[],"range":null,"old_wall_ms":0,"other":null,"at":"0001-01-01T00:00:00Z"}` + "\n"
	for want, of := range map[string]thing{empty: {}, fullLine: full()} {
		if got := encode(t, jsonline.Object{Kind: "thing", Of: of}); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
		if back, err := decode(want); err != nil || !reflect.DeepEqual(back, of) {
			t.Errorf("got %+v, %v, want %+v", back, err, of)
		}
	}
}

func TestMembers(t *testing.T) {
	got := encode(t, jsonline.Object{Of: inner{Wall: time.Millisecond, Count: 2}, First: "x count missing", Omit: "y", More: []jsonline.Member{
		{Key: "wall_ms"}, {Key: "y", Value: 1}, {Key: "x", Value: []jsonline.Object{{Of: Embedded{math.Inf(1)}}}}, {Key: "z", Value: (*inner)(nil)},
	}})
	if want := `{"x":[{"ratio":0}],"count":2,"wall_ms":null,"z":null}` + "\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestDamagedLines(t *testing.T) {
	for line, want := range map[string]string{
		`{`:                                   "unexpected end of JSON input",
		`[]`:                                  "json: cannot unmarshal array",
		`{"type":1}`:                          "json: cannot unmarshal number",
		`{"name":"a"}`:                        `type "" is not known`,
		`{"type":"other"}`:                    `type "other" is not known`,
		`{"type":"thing","color":1}`:          "json: cannot unmarshal number",
		`{"type":"thing","name":"%4"}`:        `name "%4" ends inside a %XX`,
		`{"type":"thing","old_wall_ms":1e99}`: "1e99 ms is too long for a duration",
		`{"type":"thing","parts":{}}`:         "json: cannot unmarshal object",
		`{"type":"thing","things":[1]}`:       "json: cannot unmarshal number",
		`{"type":"thing","other":"x"}`:        "json: cannot unmarshal string",
	} {
		if _, err := decode(line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

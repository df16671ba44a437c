package report

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"sort"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// canvas is a raster image being drawn. It supports boxes and text, which is all a
// one-pager needs.
type canvas struct {
	*image.RGBA
	faces map[faceKey]font.Face
}

type faceKey struct {
	kind faceKind
	size float64
}

// faceKind is one of the fonts embedded in pawl, so that images look the same on every
// machine.
type faceKind int

const (
	regular faceKind = iota
	bold
	mono
)

// newCanvas returns a canvas with the width that all images of pawl share.
func newCanvas(height int, paper color.Color) *canvas {
	c := &canvas{image.NewRGBA(image.Rect(0, 0, pictureWidth, height)), map[faceKey]font.Face{}}
	draw.Draw(c.RGBA, c.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return c
}

func (c *canvas) face(kind faceKind, size float64) (font.Face, error) {
	key := faceKey{kind, size}
	if f, ok := c.faces[key]; ok {
		return f, nil
	}
	parsed, err := opentype.Parse([][]byte{goregular.TTF, gobold.TTF, gomono.TTF}[kind])
	if err != nil {
		return nil, fmt.Errorf("cannot read font: %w", err)
	}
	f, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("cannot size font: %w", err)
	}
	c.faces[key] = f
	return f, nil
}

// ink sets the style of a text and its max width; 0 means no limit.
type ink struct {
	kind  faceKind
	size  float64
	color color.Color
	most  int
	right bool // x is the right edge of the text
}

// write draws a line of text with its baseline at y and returns its width.
func (c *canvas) write(x, y int, text string, in ink) (int, error) {
	face, err := c.face(in.kind, in.size)
	if err != nil {
		return 0, err
	}
	if in.most > 0 {
		text = elideMiddle(face, text, in.most)
	}
	width := measured(face, text)
	if in.right {
		x -= width
	}
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(in.color), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(text)
	return width, nil
}

func measured(face font.Face, text string) int { return font.MeasureString(face, text).Ceil() }

// elideMiddle cuts the middle out of a text that is too wide, because names differ at both ends.
func elideMiddle(face font.Face, text string, most int) string {
	if measured(face, text) <= most {
		return text
	}
	letters := []rune(text)
	without := func(cut int) string {
		keep := len(letters) - cut
		head := (keep + 1) / 2
		return string(letters[:head]) + "…" + string(letters[len(letters)-(keep-head):])
	}
	return without(sort.Search(len(letters), func(cut int) bool { return measured(face, without(cut)) <= most }))
}

func (c *canvas) box(x, y, width, height int, fill color.Color) {
	draw.Draw(c.RGBA, image.Rect(x, y, x+width, y+height), image.NewUniform(fill), image.Point{}, draw.Over)
}

// dashes draws a dashed vertical line.
func (c *canvas) dashes(x, y, height int, fill color.Color) {
	for at := 0; at < height; at += 8 {
		c.box(x, y+at, 2, min(4, height-at), fill)
	}
}

// The characters that the fonts contain: Latin letters and a few signs.
const (
	lastLetter = 0x24f
	signs      = "…–—·→"
)

// drawnLetters returns all characters that drawable accepts.
func drawnLetters() []rune {
	list := []rune(signs)
	for r := rune(' '); r <= lastLetter; r++ {
		list = append(list, r)
	}
	return list
}

// drawable replaces characters that the fonts lack, which would show as empty boxes.
func drawable(s string) string {
	return strings.Map(func(r rune) rune {
		if words.Invisible(r) {
			return -1
		}
		if r > lastLetter && !strings.ContainsRune(signs, r) {
			return '?'
		}
		return r
	}, s)
}

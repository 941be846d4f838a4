package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/proto"
)

// A message is what a client of the file service asks.
type message struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"`
	Body []byte `json:"body"` // base64 in JSON, which has no bytes
}

func newMessage(id uint64, size int) message {
	return message{ID: id, Name: "folder-07/file-000001", Body: bytes.Repeat([]byte{0xa7}, size)}
}

type codec interface {
	encode(message) ([]byte, error)
	decode([]byte) (message, error)
}

var codecs = map[string]codec{"protobuf": protobufCodec{}, "json": jsonCodec{}}

// protobufCodec uses the generated type as users of protobuf do: made anew for each
// message, by the program that is to send or to receive it.
type protobufCodec struct{}

func (protobufCodec) encode(m message) ([]byte, error) {
	return proto.Marshal(&Request{Id: m.ID, Name: m.Name, Body: m.Body})
}

func (protobufCodec) decode(data []byte) (message, error) {
	var r Request
	err := proto.Unmarshal(data, &r)
	return message{r.Id, r.Name, r.Body}, err
}

type jsonCodec struct{}

func (jsonCodec) encode(m message) ([]byte, error) { return json.Marshal(m) }

func (jsonCodec) decode(data []byte) (m message, err error) {
	err = json.Unmarshal(data, &m)
	return m, err
}

// turnAround encodes and decodes n messages.
func turnAround(c codec, n, size int) {
	m := newMessage(0, size)
	for i := range n {
		m.ID = uint64(i)
		data, err := c.encode(m)
		must(err)
		got, err := c.decode(data)
		must(err)
		must(same(m, got))
	}
}

// same looks at as much as costs nothing beside the codec.
func same(sent, got message) error {
	if got.ID != sent.ID || got.Name != sent.Name || len(got.Body) != len(sent.Body) {
		return errors.New("a message came back as another")
	}
	return nil
}

package native

// goModNames maps names that go:embed accepts to the names of a Go module's files.
func goModNames() map[string]string {
	return map[string]string{"go.mod.txt": "go.mod", "go.sum.txt": "go.sum"}
}

// otherPrograms lists the programs for questions besides dispatch and spawn. The program of
// _io is built with and without cgo, so machines without a C compiler still have the codecs.
func otherPrograms() []Program {
	io := func(name string, question Question, cgo, install string, impls ...string) Program {
		return Program{
			Name: name, Language: "Go", Question: question, Impls: impls,
			folder: "_io", renamed: goModNames(), env: []string{"CGO_ENABLED=" + cgo},
			build: []string{"go", "build", "-o", "crossing", "."}, run: []string{"./crossing"},
			install: install,
		}
	}
	return []Program{
		io("cgo", Call, "1", "Go from go.dev/dl and apt-get install gcc libc6-dev", "cgo", "go"),
		io("codec", Codec, "0", "Go from go.dev/dl", "protobuf", "json"),
		{
			Name: "inserts", Language: "Go", Question: Insert, Impls: []string{"postgres", "sqlite"},
			folder: "_db", renamed: goModNames(), env: []string{"CGO_ENABLED=0"},
			build: []string{"go", "build", "-o", "inserts", "."}, run: []string{"./inserts"},
			install: "Go from go.dev/dl",
		},
	}
}

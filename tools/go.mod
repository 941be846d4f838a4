// The linters, a module of their own so that the program's dependencies stay
// its own. All versions are pinned; "make staticcheck" builds and runs it.
module muster/tools

go 1.26.0

tool honnef.co/go/tools/cmd/staticcheck

require honnef.co/go/tools v0.8.2 // indirect

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

module muster/bench

go 1.26

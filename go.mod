module crosstalk

go 1.26

# docker build -t crosstalk .
# docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" -e OPENAI_API_KEY crosstalk run leakage --model openai:gpt-4o-mini

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY tools/go.mod tools/go.sum tools/
RUN go mod download && go -C tools mod download
COPY . .
ARG TARGETOS TARGETARCH REVISION
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X 'main.revision=$REVISION'" -o /out/crosstalk ./cmd/crosstalk
RUN go -C tools run ./build/release -notices /out/THIRD-PARTY-NOTICES.txt -platforms linux/amd64

# No shell, root certificates, and a user who is not root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/crosstalk /usr/local/bin/crosstalk
COPY --from=build /out/THIRD-PARTY-NOTICES.txt /usr/share/doc/crosstalk/
COPY LICENSE /usr/share/doc/crosstalk/
# What is written, caches included, goes into the folder that is mounted here.
WORKDIR /data
ENV HOME=/data
ENTRYPOINT ["/usr/local/bin/crosstalk"]

import Errand
import ErrandEssentials
import ErrandHTTPSyntax
import ErrandSystemTransport
import ErrandTesting
import Testing

@testable import ErrandMultipart

@Suite("Multipart bodies", .endsInTime, .leakChecked) struct FormTests {
    private struct Position: Codable, Sendable { var x = 1 }

    @Test("a form is written as RFC 7578 specifies, byte by byte, with its length")
    func bytes() async throws {
        let folder = try Folder(["photo.jpg": "JPEG"])
        let body = RequestBody.multipart(
            Multipart(
                boundary: "b",
                parts: [
                    .field("title", "Das Meer\r\nund so"), .field("count", 3), .json(Position(), name: "position"),
                    .data(Data("x".utf8), name: "note", fileName: "a.txt"),
                    .file(folder.file("photo.jpg"), name: "photo").with(["X-Own": "1"]),
                ]))
        let (data, request) = try await sent(body)
        #expect(
            String(decoding: data, as: UTF8.self) == """
                --b\r
                Content-Disposition: form-data; name="title"\r
                \r
                Das Meer\r
                und so\r
                --b\r
                Content-Disposition: form-data; name="count"\r
                \r
                3\r
                --b\r
                Content-Disposition: form-data; name="position"\r
                Content-Type: application/json\r
                \r
                {"x":1}\r
                --b\r
                Content-Disposition: form-data; name="note"; filename="a.txt"\r
                Content-Type: text/plain\r
                \r
                x\r
                --b\r
                Content-Disposition: form-data; name="photo"; filename="photo.jpg"\r
                Content-Type: image/jpeg\r
                X-Own: 1\r
                \r
                JPEG\r
                --b--\r

                """)
        #expect(request.body.length == Int64(data.count))
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=b")
    }

    @Test(
        "no name breaks out of its quotes, and each name is read back unchanged",
        arguments: [
            "plain", "a\"b", "a\r\nX-Evil: 1", "a\nb", "a\rb", "a;b=c", "名前", "é\u{301}🇨🇭", "", "a'b", "a=b,c",
            String(repeating: "長", count: 300), "a\"; filename=\"evil", "\"\r\n\r\n--b--\r\n", "%41", "  a  ",
        ])
    func names(name: String) async throws {
        let form = Multipart(parts: [
            .field(name, "1"), .data(Data("2".utf8), name: "file", fileName: name, contentType: "text/plain"),
        ])
        let (data, request) = try await sent(.multipart(form))
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains("\nX-Evil"))
        let parts = try await read(data, request.headers[.contentType])
        #expect(parts.count == 2)
        #expect(parts.first == WholePart(name, Data("1".utf8)))
        #expect(parts.last?.fileName == (name.isEmpty ? nil : name))
    }

    @Test("text that isn't allowed in a part's headers throws before anything is sent")
    func injections() async throws {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let data = Data("x".utf8)
        let wrong: [Multipart] = [
            Multipart(parts: [.data(data, name: "a", contentType: "text/plain\r\nX-Evil: 1")]),
            Multipart(parts: [.data(data, name: "a").with(["X-A": "1\r\nX-Evil: 1"])]),
            Multipart(parts: [.data(data, name: "a").with(["X A": "1"])]), Multipart(parts: [.data(data)]),
            Multipart(parts: [.data(data, name: "a\0b")]),
            Multipart(parts: [.data(data, name: "a", fileName: "b\u{7F}")]),
            Multipart("mi xed", parts: [.data(data)]),
            Multipart("mixed; boundary=x", parts: [.data(data)]),
        ]
        for multipart in wrong {
            let (code, own) = try await reason {
                try await agent.send(Call<Void>(.post, "up", body: .multipart(multipart)))
            }
            #expect(code == .invalidRequest)
            #expect(own == .invalidPart)
        }
        for boundary in ["", "a\r\nb", "é", "a ", String(repeating: "a", count: 71), "a\"b"] {
            let multipart = Multipart(boundary: boundary, parts: [.field("a", "b")])
            let (code, own) = try await reason {
                try await agent.send(Call<Void>(.post, "up", body: .multipart(multipart)))
            }
            #expect(code == .invalidRequest)
            #expect(own == .invalidBoundary)
        }
        #expect(stub.received.isEmpty)
    }

    @Test("other multipart types encode file names as in RFC 8187, and don't need names")
    func mixed() async throws {
        var multipart = Multipart(
            .related, boundary: "b",
            parts: [
                .json(Position()), .data(Data("x".utf8), fileName: "Größe \".txt"),
                .data(Data(), name: "näme", contentType: "a/b"),
            ])
        multipart.parameters.all.append(.init("type", "application/json"))
        let (data, request) = try await sent(.multipart(multipart))
        #expect(
            String(decoding: data, as: UTF8.self) == """
                --b\r
                Content-Type: application/json\r
                \r
                {"x":1}\r
                --b\r
                Content-Disposition: attachment; filename="Gr__e \\".txt"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%22.txt\r
                Content-Type: text/plain\r
                \r
                x\r
                --b\r
                Content-Disposition: inline; name*=UTF-8''n%C3%A4me\r
                Content-Type: a/b\r
                \r
                \r
                --b--\r

                """)
        #expect(
            request.headers[.contentType] == "multipart/related; type=\"application/json\"; boundary=b"
                || request.headers[.contentType] == "multipart/related; type=application/json; boundary=b")
        let parts = try await read(data, request.headers[.contentType])
        #expect(parts.map(\.fileName) == [nil, "Größe \".txt", nil])
    }

    @Test("parameters become fields before the parts, named as in a form")
    func parameters() async throws {
        let body = RequestBody.multipart(
            ["b": 2, "a": "x&y=z +%", "list": [1, 2], "on": true, "user": ["id": 7]],
            [.data(Data("z".utf8), name: "file", contentType: "text/plain")])
        let (data, request) = try await sent(body)
        let parts = try await read(data, request.headers[.contentType])
        #expect(parts.map(\.name) == ["a", "b", "list[]", "list[]", "on", "user[id]", "file"])
        #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == ["x&y=z +%", "2", "1", "2", "1", "7", "z"])
    }

    @Test("a number in a form has no exponent, as a parameter and as a field")
    func numbers() async throws {
        let body = RequestBody.multipart(
            ["latitude": -6.6e-05],
            [.field("longitude", 0.000066), .field("small", Float(1e-7)), .field("large", 1e20), .field("text", "1e5")])
        let (data, request) = try await sent(body)
        let parts = try await read(data, request.headers[.contentType])
        let texts = parts.map { String(decoding: $0.data, as: UTF8.self) }
        #expect(texts == ["-0.000066", "0.000066", "0.0000001", "100000000000000000000", "1e5"])
    }

    @Test("without parts, no body is sent")
    func nothing() async throws {
        for body in [RequestBody.multipart(), .multipart([:], [])] {
            let (data, request) = try await sent(body)
            #expect(data.isEmpty)
            #expect(request.body.isNone)
            #expect(request.headers[.contentType] == nil)
        }
    }

    @Test("a request fails if a part contains the boundary that you set; a random boundary doesn't occur in a part")
    func boundaries() async throws {
        let hidden = Data("abc\r\n--secret\r\nxyz".utf8)
        let folder = try Folder(["f": String(repeating: "-", count: 300_000) + "\r\n--secret--"])
        let parts: [Multipart.Part] = [
            .data(hidden, name: "a"), .file(folder.file("f"), name: "a"),
            .stream(name: "a") { pieces(of: hidden, sizes: [8, 1]) },
            .field("a", "--secret"),
        ]
        for part in parts {
            let (code, own) = try await reason {
                let form = Multipart(boundary: "secret", parts: [.field("x", "y"), part])
                _ = try await sent(.multipart(form))
            }
            #expect(code == .invalidRequest)
            #expect(own == .boundaryInPart)
        }
        let (first, request) = try await sent(.multipart(.data(hidden, name: "a")))
        let (second, _) = try await sent(.multipart(.data(hidden, name: "a")))
        #expect(first != second)
        #expect(try await read(first, request.headers[.contentType]).map(\.data) == [hidden])
    }

    @Test("every method can send a form, with a length if it is known and chunked otherwise")
    func framing() async throws {
        let server = try TestServer { _ in .status(200) }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) })
        let folder = try Folder()
        try content.write(to: folder.file("data.bin"))
        for method in [HTTPMethod.post, .put, .patch, .delete, "REPORT"] {
            for length in [Int64(content.count), nil] {
                let body = RequestBody.multipart(
                    .field("a", "b"), .file(folder.file("data.bin"), name: "file"),
                    .stream(length: length, name: "stream") { pieces(of: content, sizes: [1, 70_000, 5, 100_000]) },
                    .data(content, name: "data"))
                #expect(body.isReplayable)
                try await agent.send(Call<Void>(method, "up", body: body))
                let came = try await server.nextRequest()
                #expect(came.method == method)
                #expect(came.isChunked == (length == nil))
                #expect(came.headers.contains(.contentLength) == (length != nil))
                let parts = try await read(came.body, came.headers[.contentType])
                #expect(parts.map(\.name) == ["a", "file", "stream", "data"])
                #expect(parts.dropFirst().allSatisfy { $0.data == content })
                #expect(parts.dropFirst().first?.fileName == "data.bin")
            }
        }
    }

    @Test("a form is sent again after a 307, unless it has a stream that can be read only once")
    func redirect() async throws {
        let server = try TestServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: 307) : .status(200)
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let folder = try Folder(["f": String(repeating: "x", count: 400_000)])
        let body = RequestBody.multipart(.file(folder.file("f"), name: "f"), .field("a", "b"))
        try await agent.send(Call<Void>(.put, "a", body: body))
        let (first, second) = (try await server.nextRequest(), try await server.nextRequest())
        #expect(second.path == "/b")
        #expect(first.body == second.body)
        #expect(first.headers[.contentType] == second.headers[.contentType])
        let once = RequestBody.multipart(.stream(pieces(of: Data("abc".utf8), sizes: [1]), name: "s"))
        #expect(!once.isReplayable)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.put, "a", body: once))
        }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test("the type of a file follows from its extension in any case, or is the given type")
    func types() async throws {
        let part = Multipart.Part.data
        let names = [
            "a.PNG": "image/png", "a.b.json": "application/json", "png": "application/octet-stream", "a.": nil,
        ]
        for (name, type) in names {
            #expect(part(Data(), "x", name, nil).contentType == type ?? "application/octet-stream")
        }
        #expect(part(Data(), "x", "a.png", "image/x-own").contentType == "image/x-own")
        #expect(Multipart.Part.file(URL(filePath: "/tmp/é.pdf"), name: "x").fileName == "é.pdf")
        #expect(Multipart.Part.file(URL(filePath: "/tmp/a.pdf"), name: "x", fileName: "").fileName == nil)
    }

    @Test("a form whose length exceeds the largest integer has no length")
    func uncountable() throws {
        let longest = Int64.max - (1 << 20) - 1000
        func length(_ streams: Int64...) throws -> Int64? {
            let parts = streams.map { length in Multipart.Part.stream(length: length, name: "s") { HTTPBody(Data()) } }
            let form = Multipart(parts: parts + [.data(Data(count: 2 << 20), name: "d")])
            return try MultipartPlan(form, JSONEncoder()).length
        }
        #expect(try length(longest) == nil && length(.max) == nil && length(-1) == nil)
        #expect(try length(longest / 2, longest / 2, longest / 2) == nil)
        #expect(try length(longest / 2) ?? 0 > longest / 2)
    }

    @Test("a stream whose length differs from the announced length fails the request, and its own error is kept")
    func lengths() async throws {
        for announced in [Int64(5), 15] {
            let body = RequestBody.multipart(
                .stream(length: announced, name: "s") { pieces(of: Data("0123456789".utf8), sizes: [4]) })
            let (code, own) = try await reason { _ = try await sent(body) }
            #expect(code == .invalidRequest)
            #expect(own == .partLengthMismatch)
        }
        struct Own: Error {}
        let error = await #expect(throws: ErrandError.self) {
            _ = try await sent(.multipart(.stream(name: "s") { HTTPBody(next: { throw Own() }) }))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Own)
    }
}

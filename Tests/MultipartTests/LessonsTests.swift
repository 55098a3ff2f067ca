import Errand
import ErrandEssentials
import ErrandMultipart
import ErrandTesting
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Multipart bodies that other parsers got wrong", .endsInTime, .leakChecked)
struct ReadingLessonsTests {
    /// Returns a form with these parts: a name and its bytes.
    private func form(_ boundary: String, _ parts: [(String, Data)]) -> Data {
        var body = Data()
        for (name, data) in parts {
            body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8)
            body += data + Data("\r\n".utf8)
        }
        return body + Data("--\(boundary)--\r\n".utf8)
    }

    private func type(_ boundary: String) -> String { "multipart/form-data; boundary=\(boundary)" }

    @Test("no byte is added or lost if a chunk ends within the line end before a boundary")
    func lineEndsOfChunks() async throws {
        let contents = ["", "\r", "\n", "\r\n", "a\r", "a\n", "a\r\n", "\r\n-", "\0\0\r", "a\r\r", "\n\r"].map {
            Data($0.utf8)
        }
        for content in contents {
            let body = form("WZBOUND", [("a", content), ("b", Data("x".utf8))])
            for cut in 1..<body.count {
                let parts = try await read(pieces(of: body, sizes: [cut, body.count]), type("WZBOUND"))
                #expect(parts.map(\.data) == [content, Data("x".utf8)], "\(cut)")
            }
            let single = try await read(pieces(of: body, sizes: [1]), type("WZBOUND"))
            #expect(single.map(\.data) == [content, Data("x".utf8)])
        }
    }

    @Test("a field after a file has its own bytes, with the file's end anywhere within chunks of 64 KiB")
    func fieldAfterFile() async throws {
        let boundary = "----WebKitFormBoundaryXyz789"
        for count in 65_200...65_540 where count % 3 == 0 || count > 65_300 && count < 65_420 {
            let file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(repeating: 0xFF, count: count - 8)
            let body = form(boundary, [("image", file), ("serial", Data("A73290_SN3".utf8))])
            let parts = try await read(pieces(of: body, sizes: [65_536]), type(boundary))
            #expect(parts.map(\.data) == [file, Data("A73290_SN3".utf8)], "\(count)")
        }
    }

    @Test(
        "megabytes with a line end only at their start are read in linear time",
        arguments: ["\r", "\n", "\r\n", "\r\n-"])
    func longLines(start: String) async throws {
        let (chunk, count) = (Data(repeating: 0x61, count: 100), 40_000)
        let (head, tail) = ("--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n" + start, "\r\n--b--\r\n")
        let turn = Counter()
        let body = HTTPBody {
            let number = turn.increment()
            return number == 1
                ? Data(head.utf8) : number <= count + 1 ? chunk : number == count + 2 ? Data(tail.utf8) : nil
        }
        // Searching each chunk from the start of the line would take hours.
        let parts = try await read(body, type("b"))
        #expect(parts.map(\.data) == [Data(start.utf8) + Data(repeating: 0x61, count: count * 100)])
    }

    @Test("content that contains the boundary within a line, or almost a boundary, is content")
    func tokens() async throws {
        for content in [
            "a b c", "token", "--tokenx", "x\r\n--toke", "x\r\n-token", "x\r\n--tokenx", "x--token--", "\n--token\n",
            "x\r\n--token-",
            "token\r\ntoken", "\r\n--tokem\r\n",
        ] {
            let body = form("token", [("a", Data(content.utf8)), ("b", Data("y".utf8))])
            for size in [1, 3, 1000] {
                let parts = try await read(pieces(of: body, sizes: [size]), type("token"))
                #expect(parts.map(\.data) == [Data(content.utf8), Data("y".utf8)], "\(content)")
            }
        }
    }

    @Test(
        "a boundary may have hyphens at its ends, dollar signs, colons and 70 characters",
        arguments: [
            "boundary_text--", "--xxyy", "----", "-", "----------a_BoUnDaRy9009049739267083$",
            "----geckoformboundary57597312afb59088b78af2a1fdc6038", "a:b'c(d)+e_f,g-h.i/j=k?l",
            String(repeating: "x", count: 70),
        ])
    func boundaries(boundary: String) async throws {
        let parts = [("file1", Data("one\r\n--".utf8)), ("file2", Data()), ("file3", Data("--\r\n".utf8))]
        let body = form(boundary, parts)
        for size in [1, 16, 1000] {
            let found = try await read(
                pieces(of: body, sizes: [size]), "multipart/form-data; boundary=\"\(boundary)\"")
            #expect(found.map(\.data) == parts.map(\.1) && found.map(\.name) == parts.map(\.0), "\(size)")
        }
    }

    @Test(
        "a boundary is read without quotes too, with any characters, anywhere in the type",
        arguments: [
            ("multipart/form-data; boundary====1656457491496===", "===1656457491496==="),
            (
                "multipart/form-data; boundary=b/QeEbFgqK9PCZo4T/eXv7f.T74SHd5MxCZ846",
                "b/QeEbFgqK9PCZo4T/eXv7f.T74SHd5MxCZ846"
            ),
            ("multipart/form-data; charset=utf-8; boundary=abc", "abc"),
            ("Multipart/Mixed;BOUNDARY = \"--=BOUNDARY=--\" ; a=b", "--=BOUNDARY=--"),
            (
                "multipart/related; boundary=----=_Part_10_4245465.1397723989380; type=\"text/xml\"",
                "----=_Part_10_4245465.1397723989380"
            ),
            ("multipart/mixed; boundary=\"foo\\\"bar\"", "foo\"bar"),
            ("multipart/mixed; boundary=\"simple boundary\"", "simple boundary"),
            ("multipart/mixed;;boundary=x;", "x"),
        ])
    func unquotedBoundaries(type: String, boundary: String) async throws {
        let parts = try await read(form(boundary, [("a", Data("1".utf8)), ("b", Data("2".utf8))]), type)
        #expect(parts.map(\.name) == ["a", "b"])
    }

    @Test("a part without content or a line end is empty and takes no bytes of the next part")
    func missingContent() async throws {
        let text = """
            --b\r
            Content-Disposition: form-data; name="xml"; filename="xml"\r
            Content-Type: text/xml\r
            \r
            --b\r
            Content-Disposition: form-data; name="csrf"\r
            \r
            xxx\r
            --b\r
            Content-Disposition: form-data; name="photo"; filename="9_4.jpg"\r
            Content-Type: image/jpeg\r
            \r
            --b--\r

            """
        for size in [1, 7, 1000] {
            let parts = try await read(pieces(of: Data(text.utf8), sizes: [size]), type("b"))
            #expect(parts.map(\.name) == ["xml", "csrf", "photo"])
            #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == ["", "xxx", ""])
        }
    }

    @Test("a body whose boundary is missing or differs from its type's boundary is an error, not an empty form")
    func otherBoundary() async throws {
        for body in [form("right", [("field1", Data("value1".utf8))]), Data("{\"a\":1}".utf8), Data()] {
            let error = await #expect(throws: MultipartError.self) { try await read(body, type("wrong")) }
            #expect(error?.code == .truncated)
        }
    }

    @Test("nested parts stay within their part, with preamble and epilogue")
    func nestedEpilogue() async throws {
        let inner = "preamble\r\n--i\r\n\r\none\r\n--i\r\n\r\ntwo\r\n--i--\r\nepilogue --b"
        let text = "--b\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n\(inner)\r\n--b\r\n\r\nlast\r\n--b--"
        let parts = try await read(Data(text.utf8), type("b"))
        #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == [inner, "last"])
        let nested = try await read(parts[0].data, parts[0].type)
        #expect(nested.map { String(decoding: $0.data, as: UTF8.self) } == ["one", "two"])
    }

    @Test("a form begins with its first boundary, without a line end before it")
    func noPreamble() async throws {
        let body = RequestBody.multipart(.field("a", "1"), .data(Data("x".utf8), name: "f", fileName: "f.txt"))
        let (data, request) = try await sent(body)
        let boundary = try #require(request.headers[.contentType]?.split(separator: "boundary=").last)
        #expect(data.starts(with: Data("--\(boundary)\r\n".utf8)))
        #expect(data.suffix(boundary.utf8.count + 8) == Data("\r\n--\(boundary)--\r\n".utf8))
    }

    @Test(
        "a file name is UTF-8, or else Latin-1, or filename*, and never decoded twice",
        arguments: [
            (#"filename="031汉堡包, 漢堡.docx""#, "031汉堡包, 漢堡.docx"), (#"filename="Declaração.pdf""#, "Declaração.pdf"),
            (#"filename*=utf-8''1_%D0%9B%D0%B8%D1%81%D1%821.html"#, "1_Лист1.html"),
            (#"filename*=utf-8''file%20name.txt"#, "file name.txt"),
            (#"filename="a.txt"; filename*=UTF-8''%e2%82%ac.txt"#, "€.txt"),
            (#"filename*=UTF-8''%e2%82%ac.txt; filename="a.txt""#, "€.txt"),
            (#"filename*=iso-8859-1'en'%A3%20rates"#, "£ rates"),
            (#"filename="file.png"; filename*=utf8''file2.png"#, "file.png"),
            (#"filename="a.txt"; filename*=broken"#, "a.txt"),
            (#"filename="a.txt"; filename*=UTF-8''%zz"#, "a.txt"), (#"filename="100%.txt""#, "100%.txt"),
            (#"filename="utf8 – test.txt""#, "utf8 – test.txt"), (#"filename="""#, nil),
        ] as [(String, String?)])
    func fileNames(parameters: String, expected: String?) async throws {
        for type in ["form-data; name=\"f\"", "attachment"] {
            let text = "--b\r\nContent-Disposition: \(type); \(parameters)\r\n\r\nx\r\n--b--"
            let parts = try await read(pieces(of: Data(text.utf8), sizes: [3]), self.type("b"))
            #expect(parts.count == 1 && parts.first?.fileName == expected, "\(type)")
        }
    }

    @Test("a file name in bytes that aren't UTF-8 is read as Latin-1, and the part isn't lost")
    func latinNames() async throws {
        let head = Data("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"caf".utf8)
        let parts = try await read(head + [0xE9] + Data(".txt\"\r\n\r\nx\r\n--b--".utf8), type("b"))
        #expect(parts.map(\.fileName) == ["caf\u{E9}.txt"])
    }

    // MARK: Sending

    private let parts: [Multipart.Part] = [.field("a", "1"), .data(Data("x".utf8), name: "f", fileName: "f.png")]

    /// Returns the request that an agent with these header fields sends.
    private func request(agent headers: HTTPHeaders, own: HTTPHeaders, _ body: RequestBody) async throws -> HTTPRequest
    {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        agent.configure { $0.headers.merge(headers) }
        try await agent.send(
            Call<Void>(.post, "up") {
                $0.headers = own
                $0.body = body
            })
        return try #require(stub.received.last)
    }

    @Test("an agent's default Content-Type isn't sent with a form, or with other bodies that have a type")
    func agentType() async throws {
        let json: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
        let form = try await request(agent: json, own: [:], .multipart([:], parts))
        #expect(form.headers.values(of: .contentType).count == 1)
        let read = try await read(form.body.open(), form.headers[.contentType])
        #expect(read.map(\.name) == ["a", "f"])
        let text = try await request(agent: json, own: [:], .form(["a": 1]))
        #expect(text.headers.values(of: .contentType) == ["application/x-www-form-urlencoded"])
        for body in [RequestBody.data(Data("{}".utf8), contentType: nil), .data(Data("{}".utf8))] {
            let bytes = try await request(agent: json, own: [:], body)
            #expect(bytes.headers.values(of: .contentType) == ["application/json; charset=utf-8"])
        }
    }

    @Test(
        "a multipart type set by hand without a boundary gets the boundary, and other types are sent unchanged",
        arguments: [
            "multipart/form-data", "Multipart/Form-Data; charset=utf-8", "multipart/related; type=\"text/xml\"",
        ])
    func ownType(type: String) async throws {
        for agent: HTTPHeaders in [[:], ["Content-Type": "application/json"], ["Content-Type": type]] {
            let form = try await request(agent: agent, own: ["Content-Type": type], .multipart([:], parts))
            let sent = try #require(form.headers[.contentType])
            #expect(form.headers.values(of: .contentType).count == 1)
            #expect(sent.lowercased().hasPrefix(type.lowercased()), "\(sent)")
            #expect(try await read(form.body.open(), sent).map(\.name) == ["a", "f"])
        }
        for other in ["blah", "text/csv", "multipart/form-data; boundary=own"] {
            let form = try await request(agent: [:], own: ["Content-Type": other], .multipart([:], parts))
            #expect(form.headers.values(of: .contentType) == [other])
        }
    }

    @Test("an empty array and a missing value create no part, null creates an empty part, and fields have no type")
    func emptyValues() async throws {
        let none: String? = nil
        let parameters: Parameters = [
            "tags": [String](), "gone": none, "nothing": .null, "text": "", "list": ["a", "b"],
        ]
        let form = try await request(agent: [:], own: [:], .multipart(parameters, parts))
        let found = try await read(form.body.open(), form.headers[.contentType])
        #expect(found.map(\.name) == ["list[]", "list[]", "nothing", "text", "a", "f"])
        #expect(found.prefix(4).map { String(decoding: $0.data, as: UTF8.self) } == ["a", "b", "", ""])
        #expect(found.prefix(5).allSatisfy { $0.type == nil } && found.last?.type == "image/png")
    }

    @Test("the status of a response to a form is judged like any other")
    func statusOfForm() async throws {
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.text("too large", status: 413)))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.post, "up", body: .multipart([:], parts)))
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 413)
    }

    @Test("a part's fields can be folded, in any case and order, and a name can contain semicolons and equals signs")
    func oddHeaders() async throws {
        let text = """
            --b\r
            CONTENT-TYPE:text/plain\r
            content-disposition:FORM-DATA ; FileName = "a;b=c.txt" ;\r
            \tname="x=1; y=2"\r
            \r
            v\r
            --b\r
            Content-Disposition: form-data; name=plain; filename=\r
            \r
            w\r
            --b--
            """
        let parts = try await read(Data(text.utf8), type("b"))
        #expect(parts.map(\.name) == ["x=1; y=2", "plain"])
        #expect(parts.first?.fileName == "a;b=c.txt" && parts.first?.type == "text/plain")
    }
}

import Errand
import ErrandEssentials
import ErrandHTTPSyntax
import ErrandMultipart
import ErrandTesting
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Multipart bodies of servers and devices that don't follow the standard", .endsInTime, .leakChecked)
struct ForeignFormTests {
    private func part(_ parameters: String, type: String = "form-data") async throws -> WholePart? {
        let text = "--b\r\nContent-Disposition: \(type); \(parameters)\r\n\r\nx\r\n--b--"
        return try await read(pieces(of: Data(text.utf8), sizes: [5]), "multipart/form-data; boundary=b").first
    }

    private func texts(_ parts: [WholePart]) -> [String] { parts.map { String(decoding: $0.data, as: UTF8.self) } }

    // MARK: Names

    @Test(
        "a name ends at its quote or semicolon, and can contain quotes, semicolons, equals signs and backslashes",
        arguments: [
            (#"name="f"; filename="100129-03\"100129.jpg""#, "f", #"100129-03"100129.jpg"#),
            ("name=file; filename=myfile.txt", "file", "myfile.txt"),
            (#"name="a=b"; filename="report=v2.pdf""#, "a=b", "report=v2.pdf"),
            (#"name="a;b"; filename="a;b.txt""#, "a;b", "a;b.txt"),
            (#"name="data"; filename="file ; name.mp4""#, "data", "file ; name.mp4"),
            (#"name="yaml"; filename="semi; colon;""#, "yaml", "semi; colon;"),
            ("name=image; filename=test.jpg; filename*=utf-8''test.jpg", "image", "test.jpg"),
            (#"name="f"; filename="payload.jpg".html"#, "f", "payload.jpg"),
            (#"name="file"; filename="C:\test\test.txt""#, "file", #"C:\test\test.txt"#),
            (#"filename="name=x; .txt"; name="f""#, "f", "name=x; .txt"),
        ])
    func names(parameters: String, name: String, fileName: String) async throws {
        let part = try await part(parameters)
        #expect(part?.name == name && part?.fileName == fileName)
    }

    @Test("a backslash is an escape in an attachment, and a plain character in a form, as browsers send it")
    func backslashes() async throws {
        let parameters = #"filename="a\\nice \"file\".txt""#
        #expect(try await part(parameters, type: "attachment")?.fileName == #"a\nice "file".txt"#)
        #expect(try await part(parameters)?.fileName == #"a\\nice "file".txt"#)
    }

    @Test(
        "the name of a part is read back unchanged, and can't add a parameter",
        arguments: [#"a\"#, #"x\"; name="evil"#, #"\\"#, "a\r\nX: 1", #"""#, "semi;colon=1", "a\\\";b", "%22", " "])
    func roundTrips(name: String) async throws {
        let part = Multipart.Part.data(Data("1".utf8), name: "f", fileName: name)
        let (data, request) = try await sent(.multipart(part, .field(name, "2")))
        let parts = try await read(data, request.headers[.contentType])
        #expect(parts.count == 2 && parts.first?.name == "f")
        // The standard doesn't escape the percent sign.
        let expected = name == "%22" ? "\"" : name
        #expect(parts.first?.fileName == expected && parts.last?.name == expected)
    }

    @Test("line ends in a field are sent unchanged, and line ends in a name can't end its line")
    func lineEnds() async throws {
        let (data, request) = try await sent(
            .multipart(
                .field("fi\u{15D}o", "x\ry\nz\r\n"), .field("a\rb", "1"), .field("a\nb", "2"), .field("a\r\nb", "3")))
        let parts = try await read(data, request.headers[.contentType])
        #expect(parts.map(\.name) == ["fi\u{15D}o", "a\rb", "a\nb", "a\r\nb"])
        #expect(texts(parts) == ["x\ry\nz\r\n", "1", "2", "3"])
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("name=\"fi\u{15D}o\"") && text.contains("name=\"a%0Db\""))
        let error = await #expect(throws: ErrandError.self) {
            try await sent(.multipart(.data(Data(), name: "f", fileName: "f", contentType: "text/plain\r\nX: 1")))
        }
        #expect((error?.underlying as? MultipartError)?.code == .invalidPart)
    }

    // MARK: Boundaries

    @Test("a boundary that begins like the outer boundary only separates parts within its part")
    func prefixes() async throws {
        let inner = "--b_alt\r\n\r\none\r\n--b_alt\r\n\r\ntwo\r\n--b_alt--\r\n"
        let text =
            "--b\r\nContent-Type: multipart/alternative; boundary=\"b_alt\"\r\n\r\n\(inner)\r\n--b\r\n\r\nlast\r\n--b--"
        for size in [1, 4, 1000] {
            let parts = try await read(
                pieces(of: Data(text.utf8), sizes: [size]), "multipart/related; boundary=\"b\"")
            #expect(texts(parts) == [inner, "last"])
            #expect(texts(try await read(parts[0].data, parts[0].type)) == ["one", "two"])
        }
    }

    @Test(
        "a boundary is read with blanks around it, before other parameters, and with equals signs",
        arguments: [
            ("multipart/mixed; boundary=--boundary_0_8ab0e518 ", "--boundary_0_8ab0e518"),
            ("multipart/mixed;charset=\"utf-8\";boundary=\"BrokenBoundary==\"", "BrokenBoundary=="),
            ("multipart/mixed; boundary=\"-----SECBOUND\"", "-----SECBOUND"),
            ("multipart/form-data; boundary=1520959971324; charset=utf-8", "1520959971324"),
            ("multipart/mixed;boundary=\"test\";deferSpec=20220824", "test"),
            ("multipart/byteranges; boundary=\"squid/4.4:F82935BEEAFF2D18\"", "squid/4.4:F82935BEEAFF2D18"),
            ("multipart/mixed; boundary=\"a, b/c\"", "a, b/c"),
        ])
    func boundaries(type: String, boundary: String) async throws {
        let text = "--\(boundary)\r\n\r\none\r\n--\(boundary)\r\n\r\ntwo\r\n--\(boundary)--\r\n"
        #expect(texts(try await read(Data(text.utf8), type)) == ["one", "two"])
    }

    @Test(
        "a type without a boundary is an error before anything is read", arguments: ["", "; boundary=", "; boundary"])
    func missing(parameter: String) async {
        let error = await #expect(throws: MultipartError.self) {
            try await read(Data("--b\r\n\r\nx\r\n--b--".utf8), "multipart/related\(parameter)")
        }
        #expect(error?.code == .notMultipart)
    }

    @Test("a camera's stream whose type names the boundary with its hyphens is read", arguments: [1, 7, 1000])
    func hyphens(size: Int) async throws {
        let frame = "Content-Type: image/jpeg\r\nContent-Length: 5\r\n\r\nJPE\r\n"
        for type in ["boundary=--myboundary", "boundary =--myboundary", "boundary=\"--myboundary\""] {
            let text = "--myboundary\r\n\(frame)\r\n--myboundary\r\n\(frame)\r\n--myboundary--\r\n"
            for text in [text, "\r\n" + text] {
                let parts = try await read(
                    pieces(of: Data(text.utf8), sizes: [size]), "multipart/x-mixed-replace; \(type)")
                #expect(texts(parts) == ["JPE\r\n", "JPE\r\n"])
                #expect(parts.allSatisfy { $0.type == "image/jpeg" })
            }
        }
    }

    @Test("a standard boundary's own hyphens belong to it, and a line with fewer hyphens is content")
    func ownHyphens() async throws {
        let text = "----b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n----b--\r\n"
        #expect(texts(try await read(Data(text.utf8), "multipart/mixed; boundary=--b")) == ["one\r\n--b\r\n\r\ntwo"])
    }

    @Test("a stream that leaves out its first boundary begins with the second part")
    func firstBoundary() async throws {
        let frame = "Content-Type: image/jpeg\r\n\r\n"
        let text = "\(frame)first\r\n--b\r\n\(frame)second\r\n--b\r\n\(frame)third\r\n--b--"
        let parts = try await read(Data(text.utf8), "multipart/x-mixed-replace;boundary=b")
        #expect(texts(parts) == ["second", "third"])
    }

    @Test("if the end is missing, earlier parts are delivered, and then an error with a specific code is thrown")
    func missingEnd() async throws {
        var names: [String] = []
        let text =
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=z\r\n\r\n2"
        let error = await #expect(throws: MultipartError.self) {
            let parts = try ReceivedParts(HTTPBody(Data(text.utf8)), contentType: "multipart/mixed; boundary=b")
            for try await part in parts { names.append(part.name ?? "") }
        }
        #expect(error?.code == .truncated && names == ["a", "z"])
    }

    // MARK: Content

    @Test("a part contains the bytes that were sent, even in a transfer encoding, which its headers name")
    func transferEncodings() async throws {
        let text = """
            --foo\r
            Content-Type: text/plain; charset="UTF-8"\r
            Content-Disposition: form-data; name=field1\r
            Content-Transfer-Encoding: base64\r
            \r
            w6k=\r
            --foo\r
            Content-Disposition: form-data; name=field2\r
            content-transfer-encoding: Quoted-Printable\r
            \r
            a=3D\r
            --foo--
            """
        var found: [(String?, String)] = []
        for try await part in try ReceivedParts(
            HTTPBody(Data(text.utf8)), contentType: "multipart/form-data; boundary=foo")
        {
            let data = try await part.data(upTo: 100)
            found.append((part.headers["Content-Transfer-Encoding"], String(decoding: data, as: UTF8.self)))
        }
        #expect(found.map(\.0) == ["base64", "Quoted-Printable"] && found.map(\.1) == ["w6k=", "a=3D"])
    }

    @Test("a part has the type of its file's extension or the given type, and JSON has its own")
    func types() async throws {
        let data = Data("x".utf8)
        let (body, request) = try await sent(
            .multipart(
                .data(data, name: "a", fileName: "photo.PNG"), .data(data, name: "b", fileName: "v.mp4"),
                .data(data, name: "c", fileName: "x.bin", contentType: "image/webp"), .json(["id": 7], name: "model"),
                .data(data, name: "d"), .field("e", "text")))
        let parts = try await read(body, request.headers[.contentType])
        #expect(
            parts.map(\.type) == [
                "image/png", "video/mp4", "image/webp", "application/json", "application/octet-stream", nil,
            ])
        #expect(parts.map(\.fileName) == ["photo.PNG", "v.mp4", "x.bin", nil, nil, nil])
    }

    // MARK: Ranges and batches

    @Test("ranges are read after a blank line, in pieces of any size, and ranges in another form are ignored")
    func ranges() async throws {
        func parts(_ field: String, _ content: String) async throws -> [(ContentRange?, Data)] {
            let text = "\r\n--r\r\nContent-Type: text/plain\r\nContent-Range: \(field)\r\n\r\n\(content)\r\n--r--\r\n"
            var found: [(ContentRange?, Data)] = []
            let body = pieces(of: Data(text.utf8), sizes: [3])
            for try await part in try ReceivedParts(body, contentType: "multipart/byteranges; boundary=r") {
                found.append((part.range, try await part.data(upTo: 100)))
            }
            return found
        }
        let whole = try await parts("bytes 0-9/102", "0123456789")
        #expect(whole.map(\.0) == [.part(first: 0, last: 9, total: 102)] && whole.map(\.1) == [Data("0123456789".utf8)])
        for field in [
            "557755-558177/83071720", "bytes 473276580-/473276580", "bytes 9-0/10", "bytes 0-9", "items 0-9/10",
        ] {
            let found = try await parts(field, "x")
            #expect(found.count == 1 && found.first?.0 == nil, "\(field)")
        }
        // Bytes of a range that the part doesn't name would end up in the wrong place.
        for content in ["0123456789abcdefghij", "012345678", ""] {
            await #expect(throws: (any Error).self) { try await parts("bytes 0-9/102", content) }
        }
    }

    @Test("the parts of a batch are matched by Content-ID, even within other parts, and never by content")
    func batches() async throws {
        let inner =
            "--change\r\nContent-Type: application/http\r\nContent-ID: 4\r\n\r\nHTTP/1.1 500 Error\r\n\r\n{}\r\n--change--"
        let text = """
            --batch\r
            Content-Type: multipart/mixed; boundary=change\r
            \r
            \(inner)\r
            --batch\r
            Content-ID: <response-1>\r
            \r
            {"text":"Content-ID: response-9\\r\\n"}\r
            --batch--
            """
        var identifiers: [String?] = []
        for try await part in try ReceivedParts(
            HTTPBody(Data(text.utf8)), contentType: "multipart/mixed; boundary=batch")
        {
            identifiers.append(part.headers["Content-ID"])
            guard part.contentType?.type == "multipart" else { continue }
            for try await member in try ReceivedParts(part.body, contentType: part.headers["Content-Type"]) {
                identifiers.append(member.headers["Content-ID"])
                #expect(try await member.data(upTo: 100) == Data("HTTP/1.1 500 Error\r\n\r\n{}".utf8))
            }
        }
        #expect(identifiers == [nil, "4", "<response-1>"])
    }

    @Test(
        "a form may have no parts, a part may end with its head, and line ends may precede the first boundary",
        arguments: [
            ("--b--\r\n", []), ("--b--", []), ("\r\n--b--\r\n", []),
            ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n--b--\r\n", ["a="]),
            ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--b--\r\n", ["a="]),
            ("\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--", ["a=x"]),
            ("--b  \t\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b-- \t\r\n", ["a=x"]),
        ] as [(String, [String])])
    func emptyForms(text: String, expected: [String]) async throws {
        for size in [1, 3, 1000] {
            let parts = try await read(pieces(of: Data(text.utf8), sizes: [size]), "multipart/form-data; boundary=b")
            #expect(parts.map { "\($0.name ?? "")=\(String(decoding: $0.data, as: UTF8.self))" } == expected)
        }
    }

    @Test("a form whose first boundary is misspelled isn't read as a form without parts")
    func misspelledBoundary() async throws {
        let text = "--webQit\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nThis is a test.\r\n--webKit--"
        let error = await #expect(throws: MultipartError.self) {
            try await read(Data(text.utf8), "multipart/form-data; boundary=webKit")
        }
        #expect(error?.code == .malformedPart, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("a decomposed file name, as some file systems of Apple return it, is sent with the same bytes")
    func decomposedName() async throws {
        let name = "Mu\u{308}ll.txt"
        let folder = try Folder([name: "x"])
        for part in [
            Multipart.Part.data(Data("x".utf8), name: "f", fileName: name), .file(folder.file(name), name: "f"),
        ] {
            let (data, _) = try await sent(.multipart(Multipart(parts: [part])))
            #expect(data.firstRange(of: Data("filename=\"Mu\u{308}ll.txt\"".utf8)) != nil)
            #expect(data.firstRange(of: Data("M\u{FC}ll".utf8)) == nil)
            #expect(data.firstRange(of: Data("filename*".utf8)) == nil)
        }
    }
}

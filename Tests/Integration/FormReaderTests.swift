#if os(Linux) || os(macOS)
import Errand
import ErrandCompression
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum FormReaders {
    static func areInstalled() async -> Bool {
        let output = try? await Program("env")?.run(["python3", "-c", "import werkzeug"])
        return output?.status == 0
    }
}

/// Parses Errand's forms with Werkzeug's form parser and with Python's `email`.
@Suite(
    "Forms, read by others", .enabled("python3 with werkzeug is needed") { await FormReaders.areInstalled() },
    .endsInTime, .leakChecked)
struct FormReaderTests {
    private struct Seen: Codable, Equatable {
        var name: String
        var fileName: String?
        var type: String?
        /// Base64-encoded.
        var data: Data
    }

    private static let reader = #"""
        import base64, email, email.policy, io, json, sys, gzip
        from werkzeug.formparser import FormDataParser
        from werkzeug.http import parse_options_header
        kind, path, header, coding = sys.argv[1:]
        body = open(path, "rb").read()
        if coding == "gzip":
            body = gzip.decompress(body)
        parts = []
        if kind == "werkzeug":
            mimetype, options = parse_options_header(header)
            _, form, files = FormDataParser(max_form_memory_size=None).parse(io.BytesIO(body), mimetype, len(body), options)
            for name, values in form.lists():
                parts += [{"name": name, "data": base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()} for value in values]
            for name, values in files.lists():
                for file in values:
                    parts.append({"name": name, "fileName": file.filename, "type": file.content_type,
                        "data": base64.b64encode(file.stream.read()).decode()})
        else:
            message = email.message_from_bytes(b"Content-Type: " + header.encode() + b"\r\n\r\n" + body, policy=email.policy.HTTP)
            assert message.is_multipart() and not message.defects, message.defects
            for part in message.get_payload():
                assert not part.defects, part.defects
                params = part["Content-Disposition"].params
                file = params.get("filename")
                seen = {"name": params["name"], "data": base64.b64encode(part.get_payload(decode=True)).decode()}
                if file is not None:
                    seen |= {"fileName": file, "type": part.get_content_type()}
                parts.append(seen)
        print(json.dumps(parts))
        """#

    private static let names = [
        "plain", "a\"b", "a\r\nX-Evil: 1", "a\nb", "a;b=c", "名前", "é\u{301}🇨🇭", "a'b", "a=b, c", "a: b",
        String(repeating: "長", count: 300), "a\"; filename=\"evil", "\"\r\n\r\n--b--\r\n", "(a) <b> @c", "a&b?c#d",
    ]

    private static let contents: [Data] = [
        Data(), Data("text".utf8), Data([0, 255, 13, 10, 0, 128, 13, 13, 10, 10]),
        Data("\r\n--errand-0123456789abcdef0123456789abcdef--\r\n".utf8), Data("--\r\n--\r\n\r\n".utf8),
        Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }),
    ]

    @Test(
        "every name and every byte is read as it was written, also if the body is compressed",
        arguments: ["werkzeug", "email"], [false, true])
    func forms(reader: String, isCompressed: Bool) async throws {
        let server = try TestServer { _ in .status(204) }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: isCompressed ? [.bodyCompression(.gzip)] : [])
        let folder = try Folder()
        try Self.contents.last?.write(to: folder.file("f.bin"))
        var (parts, expected): ([Multipart.Part], [Seen]) = ([], [])
        for (index, name) in Self.names.enumerated() {
            parts.append(.field(name, "value \(index) ü"))
            expected.append(Seen(name: name, data: Data("value \(index) ü".utf8)))
        }
        for (index, name) in Self.names.enumerated() {
            let content = Self.contents[index % Self.contents.count]
            let field = "file \(index)"
            parts.append(.data(content, name: field, fileName: name, contentType: "application/x-own"))
            expected.append(Seen(name: field, fileName: name, type: "application/x-own", data: content))
        }
        let large = try #require(Self.contents.last)
        parts.append(.file(folder.file("f.bin"), name: "file on disk"))
        expected.append(Seen(name: "file on disk", fileName: "f.bin", type: "application/octet-stream", data: large))
        parts.append(.stream(name: "stream", fileName: "s.txt") { HTTPBody(large) })
        expected.append(Seen(name: "stream", fileName: "s.txt", type: "text/plain", data: large))
        try await agent.send(Call<Void>(.put, "up", body: .multipart(Multipart(parts: parts))))
        let came = try await server.nextRequest()
        let seen = try await read(came, by: reader)
        #expect(seen.count == expected.count)
        for wanted in expected {
            #expect(seen.contains(wanted), "\(wanted.name.prefix(40).debugDescription)")
        }
    }

    private func read(_ request: RecordedRequest, by reader: String) async throws -> [Seen] {
        let folder = try Folder(["reader.py": Self.reader])
        try request.body.write(to: folder.file("body"))
        let python = try #require(Program("env"))
        let arguments = [
            "python3", folder.path("reader.py"), reader, folder.path("body"), request.headers[.contentType] ?? "",
            request.headers[.contentEncoding] ?? "",
        ]
        let output = try await python.run(arguments, environment: ["PYTHONIOENCODING": "utf-8"])
        try #require(output.status == 0, "\(output)")
        // Both parsers return the names as quoted; undoing the HTML standard's escapes is up to the receiver.
        return try JSONDecoder().decode([Seen].self, from: output.bytes).map { seen in
            var seen = seen
            seen.name = Self.unescaped(seen.name)
            seen.fileName = seen.fileName.map(Self.unescaped)
            return seen
        }
    }

    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
}
#endif

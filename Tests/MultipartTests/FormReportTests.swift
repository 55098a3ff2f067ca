import Errand
import ErrandMultipart
import ErrandTesting
import Foundation
import Testing

/// Parts that other libraries got wrong. Tests/Lessons.md has the reports.
@Suite("Parts that other libraries got wrong", .endsInTime, .leakChecked)
struct FormReportTests {
    @Test(
        "names are read as browsers write them: three escapes, and no other",
        arguments: [
            ("a%22b", "a\"b"), ("a%0D%0Ab", "a\r\nb"), (#"a\\b"#, #"a\\b"#), ("100%25", "100%25"),
            ("a%2Fb", "a%2Fb"), ("50%", "50%"), ("files[]", "files[]"),
        ])
    func escapes(written: String, name: String) async throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\"\r\n\r\nx\r\n--b--\r\n"
        let part = try #require(try await read(Data(text.utf8), "multipart/form-data; boundary=b").first)
        #expect(part.name == name && part.fileName == name, "\(part)")
    }

    @Test(
        "a boundary within a line, a file name or the preamble, or with further characters, is content",
        arguments: [1, 5, 4096])
    func contentLikeBoundaries(size: Int) async throws {
        let content = "x --b\r\n--bb\r\n--b-x\r\n-b--\r\n\0\u{FF}--b--"
        let text = """
            see --b\r
            --b\r
            Content-Disposition: form-data; name="f"; filename="--b\r
             --b--.txt"\r
            \r
            \(content)\r
            --b\r
            Content-Disposition: form-data; name="next"\r
            \r
            1\r
            --b--
            """
        let parts = try await read(pieces(of: Data(text.utf8), sizes: [size]), "multipart/form-data; boundary=b")
        #expect(parts.map(\.name) == ["f", "next"])
        #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == [content, "1"])
    }

    @Test("a list's name with brackets, and a file's name with parentheses, are sent unchanged")
    func plainNames() async throws {
        let part = Multipart.Part.data(Data("1".utf8), name: "files[]", fileName: "report (1).txt")
        let (data, _) = try await sent(.multipart(part))
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#"name="files[]"; filename="report (1).txt""#), "\(text)")
    }

    @Test(
        "the parts end although the epilogue comes later, in chunks of its own",
        arguments: ["\r\n", "\r\nepilogue", "", "\r", "  \r\nmore\r\n--b\r\n"])
    func lateEpilogue(epilogue: String) async throws {
        let text = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--"
        let body = pieces(of: Data((text + epilogue).utf8), sizes: [text.utf8.count, 1])
        #expect(try await read(body, "multipart/form-data; boundary=b").map(\.name) == ["a"])
    }
}

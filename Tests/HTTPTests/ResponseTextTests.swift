import ErrandEssentials
import ErrandHTTP
import Testing

@Suite("The text of a response", .leakChecked) struct ResponseTextTests {
    private func response(_ types: [String], _ bytes: [UInt8]) throws -> HTTPResponse {
        var headers = HTTPHeaders()
        for type in types { headers.add(.contentType, type) }
        let url = try #require(URL(string: "https://example.com"))
        return HTTPResponse(url: url, status: 200, headers: headers, body: HTTPBody(Data(bytes)))
    }

    @Test(
        "is decoded with the charset's label, or as UTF-8 if the label is missing or empty",
        arguments: [
            ("text/html", "é"), ("text/html; charset=", "é"), ("text/html; charset=\"\"", "é"), ("", "é"),
            ("text/html; charset=\" \"", "é"), ("text/html; charset=; a=b", "é"), ("text/html; charset=utf8", "é"),
            ("text/html; CHARSET=\"Latin1\"", "Ã©"), ("text/html; charset=us-ascii", "Ã©"),
            ("text/html; charset=gb2312", "茅"), ("text/html; charset=Shift_JIS", "ﾃｩ"),
            ("text/html;charset=utf-8;charset=latin1", "é"),
        ])
    func labels(type: String, expected: String) throws {
        #expect(try response(type.isEmpty ? [] : [type], [0xC3, 0xA9]).text() == expected)
    }

    @Test("is decoded with the last valid type if there are two types, which count as one for acceptable types")
    func repeatedTypes() throws {
        let twice = try response(["text/html; charset=utf-8", "text/html"], [0xC3, 0xA9])
        #expect(try twice.text() == "é" && twice.mediaType == "text/html")
        let other = try response(["text/html; charset=utf-8", "text/plain; charset=latin1"], [0xC3, 0xA9])
        #expect(try other.text() == "Ã©" && other.mediaType == "text/plain")
        let broken = try response(["application/json", "nonsense", "*/*"], [0x31])
        #expect(broken.mediaType == "application/json" && broken.charsetLabel == nil)
        #expect(ContentTypes.json.contains(try #require(broken.mediaType)))
    }

    @Test("throws with the label, or with the charset that the bytes are invalid in")
    func failures() throws {
        func message(_ label: String, _ bytes: [UInt8]) throws -> String? {
            let response = try response(["text/plain; charset=\"\(label)\""], bytes)
            do { _ = try response.text() } catch let error as ErrandError where error.code == .decodingFailed {
                return error.description
            }
            return nil
        }
        #expect(try message("no\u{9B}such", [0xE9])?.contains("no\\u{9B}such") == true)
        #expect(try message("x-gbk", [0xFF]) == "decodingFailed: the body is not valid gbk text")
        #expect(try message("utf-7", [0xE9])?.contains("utf-7") == true)
        #expect(try message("iso-2022-kr", [0x61]) == "decodingFailed: the body is not valid replacement text")
    }
}

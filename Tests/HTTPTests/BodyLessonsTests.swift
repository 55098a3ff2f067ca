import ErrandEssentials
import ErrandHTTP
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Bodies with wrong labels", .leakChecked) struct BodyLessonsTests {
    private func response(_ type: String, _ bytes: [UInt8], coding: String? = nil) throws -> HTTPResponse {
        var headers: HTTPHeaders = type.isEmpty ? [:] : ["Content-Type": type]
        if let coding { headers.set(.contentEncoding, coding) }
        let url = try #require(URL(string: "https://example.com"))
        return HTTPResponse(url: url, status: 200, headers: headers, body: HTTPBody(Data(bytes)))
    }

    private struct Unit: Decodable, Equatable { let name: String }

    @Test("a byte order mark isn't part of JSON or text, with any declared type")
    func marks() throws {
        let json = [UInt8]("{\"name\":\"\u{E9}\"}".utf8)
        for type in ["application/json", "application/json; charset=utf-8", "text/html; charset=latin1", ""] {
            let marked = try response(type, [0xEF, 0xBB, 0xBF] + json)
            #expect(try marked.decoded(as: Unit.self) == Unit(name: "\u{E9}"))
            #expect(try marked.text() == "{\"name\":\"\u{E9}\"}")
        }
        var wide: [UInt8] = [0xFF, 0xFE]
        for unit in "{\"name\":\"\u{E9}\"}".utf16 { wide += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        #expect(try response("application/json", wide).decoded(as: Unit.self) == Unit(name: "\u{E9}"))
    }

    @Test("an unknown charset of JSON is ignored", arguments: ["test", "none", "utf8mb4", "utf-8, gbk"])
    func jsonCharsets(label: String) throws {
        let response = try response("application/json; charset=\(label)", Array("{\"name\":\"\u{E9}\"}".utf8))
        #expect(try response.decoded(as: Unit.self) == Unit(name: "\u{E9}"))
    }

    @Test(
        "JSON is read even if its coding is invalid, such as a charset",
        arguments: [
            "utf-8", "UTF-8", "none", "", "identity", "binary", "utf8",
        ])
    func codings(coding: String) throws {
        let response = try response("application/json", Array("{\"name\":\"a\"}".utf8), coding: coding)
        #expect(try response.decoded(as: Unit.self) == Unit(name: "a"))
        #expect(try response.text() == "{\"name\":\"a\"}")
    }

    @Test(
        "an unknown charset is ignored if the bytes are UTF-8, and named in the error otherwise",
        arguments: [
            "utf8mb4", "unknown", "none", "\u{81}gUTF-8\u{81}\u{81}", "x-sjis-cp932-custom", "utf-8,charset=utf-8",
            "'utf-8'", "UTF_8", "utf-8\\", "binary",
        ])
    func unknownCharsets(label: String) throws {
        let type = "text/html; charset=\"\(label)\""
        #expect(try response(type, Array("caf\u{E9}".utf8)).text() == "caf\u{E9}")
        #expect(try response(type, Array("caf".utf8)).text() == "caf")
        let error = #expect(throws: ErrandError.self) { try response(type, [0x63, 0xE9]).text() }
        #expect(error?.code == .decodingFailed && error?.message.contains("is unknown") == true)
    }

    @Test("an unknown charset whose text could be in another charset is an error: UTF-32 and VISCII")
    func otherCharsets() throws {
        #expect(throws: ErrandError.self) {
            try response("text/plain; charset=utf-32", [0x61, 0, 0, 0, 0x62, 0, 0, 0]).text()
        }
        #expect(throws: ErrandError.self) {
            try response("text/plain; charset=viscii", [0x43, 0x68, 0xE6, 0x20, 0x51, 0x75, 0xAF, 0x63]).text()
        }
    }
}

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Forms that other encoders got wrong", .leakChecked) struct FormLessonsTests {
    private func text(_ parameters: Parameters) throws -> String { try ParameterEncoding().encode(parameters) }

    @Test(
        "a server decodes a plus sign, an asterisk, a tilde and a line end to themselves",
        arguments: [
            ("pid.vc+sd-jwt openid", "pid.vc%2Bsd-jwt%20openid"), ("a\nb", "a%0Ab"), ("\r\n", "%0D%0A"),
            ("a*b~c", "a%2Ab~c"), ("-._", "-._"), ("\\n", "%5Cn"), ("\u{FFFD}", "%EF%BF%BD"), ("&=", "%26%3D"),
            ("test (20%", "test%20%2820%25"),
            ("a[0]", "a%5B0%5D"), ("`:$,@", "%60%3A%24%2C%40"),
        ])
    func characters(value: String, encoded: String) throws {
        #expect(try text(["q": ParameterValue(value)]) == "q=\(encoded)")
    }

    @Test("an empty object in a list doesn't create a parameter, and JSON keeps it")
    func emptyObjects() throws {
        let value: [[String: [String]]] = [["id": ["1"]], [:]]
        #expect(try text(Parameters(encoding: ["and": value])).contains("id"))
        let json = try JSONEncoder().encode(["and": value])
        #expect(String(decoding: json, as: UTF8.self) == #"{"and":[{"id":["1"]},{}]}"#)
    }
}

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Credentials that other libraries got wrong", .leakChecked) struct CredentialLessonsTests {
    @Test(
        "Basic credentials are sent unchanged, and a server splits them at the first colon",
        arguments: [
            ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123\u{A3}", "dGVzdDoxMjPCow=="),
            ("ada", "a:b:", "YWRhOmE6Yjo="), ("10:10:5e", "x", "MTA6MTA6NWU6eA=="), ("", "", "Og=="),
        ])
    func basic(user: String, password: String, credentials: String) {
        var headers: HTTPHeaders = ["Authorization": "Basic old"]
        headers.authorize(.basic(user: user, password: password))
        #expect(headers.values(of: .authorization) == ["Basic \(credentials)"])
        #expect("\(Authorization.basic(user: user, password: password))" == "Basic \u{2022}\u{2022}\u{2022}")
    }
}

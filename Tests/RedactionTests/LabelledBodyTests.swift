import ErrandHTTP
import ErrandRedaction
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Bodies with wrong labels, without their secrets", .leakChecked) struct LabelledBodyTests {
    private func shown(_ text: String, type: String, coding: String? = nil) -> String? {
        var redactor = Redactor()
        guard case .shown(let data) = redactor.body(Data(text.utf8), contentType: type, contentCoding: coding) else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }

    @Test(
        "a body with an invalid coding is shown, and its secrets are masked",
        arguments: [
            "utf-8", "none", "", "identity", "UTF-8", "binary", "none, utf-8",
        ])
    func codings(coding: String) throws {
        let text = try #require(shown(#"{"name":"a","password":"hunter2"}"#, type: "application/json", coding: coding))
        #expect(text.contains(#""name":"a""#) && !text.contains("hunter2"))
        #expect(shown("{", type: "application/json", coding: "gzip") == nil)
        #expect(shown("{}", type: "application/json", coding: "utf-8, gzip") == nil)
    }

    @Test("parts are masked if the boundary's line has two more hyphens than its name, or the same number")
    func hyphens() throws {
        let part = "Content-Disposition: form-data; name=password\r\n\r\nhunter2\r\n"
        for line in ["--b", "----b"] {
            let text = "\(line)\r\n\(part)\(line)--\r\n"
            let masked = try #require(shown(text, type: "multipart/x-mixed-replace; boundary=--b"))
            #expect(!masked.contains("hunter2") && masked.contains("name=password"))
        }
        let both = "--b\r\n\(part)----b\r\n\(part)----b--\r\n"
        #expect(shown(both, type: "multipart/mixed; boundary=--b")?.contains("hunter2") == false)
    }
}

import ErrandHTTP
import Foundation
import Testing

@Suite("Sentences for people", .endsInTime) struct FailureSentenceTests {
    @Test(
        "each code of a request error has a sentence in both languages",
        arguments: [
            (.invalidURL, "Something went wrong.", "操作失败。"), (.invalidRequest, "Something went wrong.", "操作失败。"),
            (.encodingFailed, "Something went wrong.", "操作失败。"),
            (.bodyNotReplayable, "Something went wrong.", "操作失败。"),
            (.fileFailed, "A file couldn't be read or written.", "无法读取或写入文件。"),
            (.cancelled, "This was cancelled.", "操作已取消。"),
            (.timedOut, "The server took too long to respond.", "服务器响应超时。"),
            (.deadlineExceeded, "The server took too long to respond.", "服务器响应超时。"),
            (.nameLookupFailed, "The server couldn't be reached.", "无法连接到服务器。"),
            (.cannotConnect, "The server couldn't be reached.", "无法连接到服务器。"),
            (.connectionLost, "The connection was lost.", "网络连接已中断。"),
            (.insecureConnection, "A secure connection couldn't be made.", "无法建立安全连接。"),
            (.invalidResponse, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.truncated, "The connection was lost.", "网络连接已中断。"),
            (.bodyTooLarge, "The data is too large.", "数据过大。"),
            (.bodyAlreadyRead, "Something went wrong.", "操作失败。"),
            (.redirectFailed, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.unacceptableStatus, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.unacceptableContentType, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.checkFailed, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.decodingFailed, "The server's response couldn't be used.", "服务器返回的内容无法使用。"),
            (.activityEnded, "This was cancelled.", "操作已取消。"),
            (.transportUnavailable, "Something went wrong.", "操作失败。"),
            (.transportFailed, "Something went wrong.", "操作失败。"),
            (.userChanged, "Another user has signed in.", "已有其他用户登录。"),
        ] as [(ErrandError.Code, String, String)])
    func codes(code: ErrandError.Code, english: String, chinese: String) throws {
        var error = ErrandError(code, "Failed to connect to 127.0.0.1 port 1 after 0 ms")
        error.request = HTTPRequest(.post, try #require(URL(string: "http://127.0.0.1:1/check/1")))
        #expect(error.failureSentence.text(preferring: ["en-GB"]) == english)
        #expect(error.failureSentence.text(preferring: ["zh-Hans-CN"]) == chinese)
        #expect(error.localizedDescription == error.failureSentence.text())
        #expect(error.description.contains("127.0.0.1 port 1") && error.description.contains("/check/1"))
    }

    @Test(
        "an unacceptable status has the sentence of its kind",
        arguments: [
            (400, FailureSentence.refused), (401, .signInRequired), (403, .notAllowed), (404, .notFound),
            (408, .timedOut), (410, .notFound), (413, .tooLarge), (418, .refused), (429, .busy), (500, .serviceFailed),
            (503, .busy), (504, .timedOut), (304, .unusableResponse), (0, .unusableResponse),
        ])
    func statuses(status: Int, sentence: FailureSentence) {
        #expect(FailureSentence.status(status) == sentence)
    }

    @Test(
        "the first available preferred language counts, or else English",
        arguments: [
            ([], false), (["en"], false), (["zh"], true), (["zh-CN"], true), (["zh_SG"], true), (["zh-Hans-HK"], true),
            (["zh-Hant"], false), (["zh-TW"], false), (["zh-HK", "en"], false), (["fr", "zh-Hans", "en"], true),
            (["fr", "en-001", "zh-Hans"], false), (["de"], false), (["ZH-HANS"], true), ([""], false),
        ])
    func languages(preferred: [String], isChinese: Bool) {
        #expect(FailureSentence.busy.text(preferring: preferred).hasPrefix("服务") == isChinese)
    }

    private struct Own: DescribedError {
        var description: String { "code 7 at https://a.example/" }
        var failureSentence: FailureSentence { .busy }
        var errorCode: Int { 1 }
    }

    private struct Plain: Error {}

    private struct Refusal: LocalizedError { let errorDescription: String? = "sold out" }

    @Test("the app's own text takes precedence, and nil keeps the default text")
    func provider() {
        // Limited to this test's error, because other tests run at the same time.
        FailureSentence.provider = { error, sentence in
            error is Own ? "own text for \(sentence.name)" : nil
        }
        defer { FailureSentence.provider = nil }
        #expect(Own().localizedDescription == "own text for busy")
        #expect(FailureSentence.busy.text(for: Own(), message: "the service's") == "own text for busy")
        #expect(ErrandError(.checkFailed, "no", underlying: Own()).localizedDescription == "own text for busy")
        #expect(ErrandError(.timedOut, "no").localizedDescription == FailureSentence.timedOut.text())
        FailureSentence.provider = nil
        #expect(Own().localizedDescription == FailureSentence.busy.text())
    }

    @Test("a message of the service takes precedence over the sentence, unless it's blank")
    func message() {
        #expect(FailureSentence.busy.text(for: Plain(), message: "sold out") == "sold out")
        for blank in [nil, "", " \n"] {
            #expect(FailureSentence.busy.text(for: Plain(), message: blank) == FailureSentence.busy.text())
        }
    }

    @Test("a failed check has its error's own text, and every error has a text")
    func others() {
        #expect(ErrandError(.checkFailed, "no", underlying: Refusal()).localizedDescription == "sold out")
        #expect(
            ErrandError(.checkFailed, "no", underlying: Plain()).localizedDescription
                == FailureSentence.unusableResponse.text())
        #expect(FailureSentence.text(of: Refusal()) == "sold out")
        #expect(FailureSentence.text(of: Plain()) == FailureSentence.failed.text())
        #expect(FailureSentence("mine", english: "A", simplifiedChinese: "B") != .failed)
    }
}

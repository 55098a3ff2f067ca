import ErrandSupport
import Testing

@Suite(.leakChecked) struct ErrorTextTests {
    private struct Silent: Error { var secret = "hunter2" }
    private struct Spoken: Error, CustomStringConvertible { let description = "what happened" }
    private final class Object: Error, CustomStringConvertible { let description = "user info with a URL" }

    @Test("an error says what its author wrote for it, and otherwise only its type")
    func brief() {
        #expect(ErrorText.brief(Spoken()) == "what happened")
        #expect(ErrorText.brief(Silent()) == "Silent")
        #expect(ErrorText.brief(Object()) == "Object")
        #expect(ErrorText.brief(CancellationError()) == "CancellationError")
    }
}

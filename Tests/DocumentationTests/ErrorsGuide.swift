import Errand
import ErrandMultipart

private func useOwnTexts() {
    FailureSentence.provider = { error, sentence in
        switch sentence {
        case .unreachable: "You seem to be offline."
        case .failed where error is MultipartError: "The photo couldn't be sent."
        default: nil
        }
    }
}

import ErrandHTTPSyntax
import ErrandSupport

extension TargetURL {
    /// A URL for messages: without credentials, with query values masked, and without control characters.
    static func masked(_ text: String) -> String { TextLayout.shortened(TextLayout.printable(redacted(text)), to: 300) }

    /// A URL with its secrets redacted, as Errand does in descriptions.
    static func redacted(_ text: String) -> String { URLSyntax.redacted(text) }

    /// Why a URL can't be requested, or nil if it can.
    static func fault(in text: String) -> String? {
        do {
            try URLSyntax.check(text)
            return nil
        } catch { return error.description }
    }
}

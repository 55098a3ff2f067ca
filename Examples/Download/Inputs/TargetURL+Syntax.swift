import ErrandHTTPSyntax
import ErrandSupport

extension TargetURL {
    /// A URL for messages: no credentials, the values of the query masked, nothing that a terminal obeys.
    static func masked(_ text: String) -> String { TextLayout.shortened(TextLayout.printable(redacted(text)), to: 300) }

    /// A URL as the engine writes it down for people.
    static func redacted(_ text: String) -> String { URLSyntax.redacted(text) }

    /// Why a URL cannot be requested; nil if it can.
    static func fault(in text: String) -> String? {
        do {
            try URLSyntax.check(text)
            return nil
        } catch { return error.description }
    }
}

import ErrandEssentials
public import ErrandMessageSyntax

extension URLSyntax.Fault: DescribedError {
    /// Always "Errand.URLSyntax.Fault".
    public static var errorDomain: String { "Errand.URLSyntax.Fault" }
    /// Always 1, because there is only one kind.
    public var errorCode: Int { 1 }
}

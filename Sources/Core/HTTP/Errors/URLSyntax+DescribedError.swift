import ErrandEssentials
public import ErrandMessageSyntax

extension URLSyntax.Fault: DescribedError {
    /// "Errand.URLSyntax.Fault"
    public static var errorDomain: String { "Errand.URLSyntax.Fault" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

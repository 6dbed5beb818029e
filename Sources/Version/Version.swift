/// The version of Bookplate. Every program prints it for `--version`, and the server reports it to operators.
///
/// A release changes this line and adds a section with the same version to `CHANGELOG.md`. A test compares the two.
package let bookplateVersion = "0.9.0"

"""A fitted model as the first step of a scikit-learn pipeline."""

from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

import shop


def main() -> Pipeline:
    """Tell the shelf of a thing by its text: vectors stay as they are, the classifier learns."""
    texts, shelves = list(shop.names().values()), list(shop.labels().values())
    pipeline = make_pipeline(FrozenEstimator(shop.model()), LogisticRegression())
    pipeline.fit(texts, shelves)
    print(pipeline.predict(["soup pan lid", "ink for a pen", "spade"]))
    return pipeline


if __name__ == "__main__":
    main()
